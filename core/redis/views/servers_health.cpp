#include "core/redis/views/servers_health.h"

// System.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/counted.h"
#include "core/base/text/decimal.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/text/size.h"
// fq, this room.
#include "core/redis/waits/bells.h"
#include "core/redis/catalog/catalog.h"
#include "core/redis/shard/rights.h"
#include "core/redis/views/old_libraries.h"
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr int64_t kSlowMs = 20;              // a round trip that every call pays
constexpr uint64_t kMemoryUsedPercent = 80;  // of its limit: time to see to it
// A replica says each second what it has. Chosen: longer than that takes on a busy machine, and shorter than
// a push waits for it.
constexpr uint64_t kSilentS = 3;
constexpr size_t kReplicasMax = 64;  // arbitrary: more are not looked at

/// Those of a server, as it says.
struct Replicas {
  size_t taking = 0;  // what it accepts
  std::string heard;  // how long ago, of each that has all of its data
};

Replicas replicas_of(const Server& server) {
  constexpr std::string_view kOnline = ",state=online,", kLag = ",lag=";
  Replicas replicas;
  for (size_t i = 0; i < kReplicasMax; ++i) {
    const std::string_view line = server.told("slave" + std::to_string(i));
    if (line.empty()) break;
    const size_t lag = line.rfind(kLag);
    if (line.find(kOnline) == line.npos || lag == line.npos) continue;
    const std::optional<uint64_t> ago_s = parse_decimal(line.substr(lag + kLag.size()));
    if (!ago_s) continue;
    if (*ago_s <= kSilentS) ++replicas.taking;
    replicas.heard += (replicas.heard.empty() ? "" : ", ") + std::to_string(*ago_s) + " s";
  }
  return replicas;
}

std::string shown_replicas(const Server& server) {
  const std::string_view count = server.told("connected_slaves");
  const std::string heard = replicas_of(server).heard;
  return std::string(count) + (count == "1" ? " replica" : " replicas") +
         (heard.empty() ? "" : ", heard of " + heard + " ago");
}

DoctorRow server_row(Server& server, int64_t took_ms) {
  std::string found = server.name() + ": version " + std::string(server.told("redis_version")) + ", " +
                      std::string(server.told("role")) + ", " + shown_replicas(server) + ", answers in " +
                      std::to_string(took_ms) + " ms";
  if (took_ms < kSlowMs) return {"server", std::move(found), Health::ok, ""};
  return {"server", std::move(found), Health::warning,
          "each call waits so long: use a server that is nearer"};
}

DoctorRow level_row(const Server& server) {
  const std::string front = server.name() + ": " + std::string(name_of(server.level())) + ": ";
  if (server.level() == Level::async) {
    return {"durability", front + "what it has accepted is lost if its machine dies before it was saved",
            Health::warning, "give it a replica"};
  }
  if (replicas_of(server).taking == 0) {
    return {"durability",
            front + "no replica takes what it accepts: a push is held up, and ends with 74 or 75",
            Health::fault, "see to its replicas, or give it one"};
  }
  if (server.level() == Level::strict && !server.says_fsync()) {
    return {"durability",
            front + "what it has accepted a replica has, too, and it is on its disk where its appendfsync is "
                    "always, which it does not tell this user",
            Health::warning, "ask its administrator, or run fq doctor as one who may run CONFIG GET"};
  }
  if (server.level() == Level::strict) {
    return {"durability",
            front + "what it has accepted is on its disk, and a replica has it; nobody asks that one's disk",
            Health::ok, ""};
  }
  return {"durability", front + "what it has accepted a replica has, too; lost only if both die", Health::ok,
          ""};
}

/// Whether it makes snapshots it does not say.
DoctorRow disk_row(const Server& server) {
  const std::string front = server.name() + ": ";
  if (server.told("rdb_last_bgsave_status") == "err")
    return {"saved", front + "could not write its last snapshot", Health::warning, "see its log"};
  if (server.told("aof_enabled") == "1") {
    return {"saved", front + "keeps what it has in a file, as its appendfsync says", Health::ok, ""};
  }
  return {"saved", front + "when it dies all is lost that came after its last snapshot, if it makes any",
          Health::warning, "set its appendonly to yes"};
}

DoctorRow memory_row(const Server& server) {
  const uint64_t used = parse_decimal(server.told("used_memory")).value_or(0);
  const uint64_t most = parse_decimal(server.told("maxmemory")).value_or(0);
  const std::string front = server.name() + ": " + format_size(used) + " used";
  if (most == 0) {
    return {"memory", front + ", without a limit", Health::warning,
            "set its maxmemory: the machine's memory would end all of it"};
  }
  const bool is_much = used / 100 * 100 >= most / 100 * kMemoryUsedPercent;
  return {"memory", front + " of " + format_size(most), is_much ? Health::warning : Health::ok,
          is_much ? "raise its maxmemory: where it is used up pushes are refused" : ""};
}

constexpr std::string_view kGiveRights = "give it the rights that fq-redis acl URL tells";

/// Those of them that fq needs and this user lacks. It changes nothing, and is refused where a push is.
Result<Reply> ask_for_rights(Server& server, const ServerAccess& access) {
  const std::string function = std::string(access.library->name) + "_rights";
  const std::string key = access.place.key("rights");  // there is none, and it may be worked on
  return server.call(std::array<std::string_view, 5>{"FCALL", function, "0", client_commands(), key});
}

DoctorRow rights_row(const Server& server, const Reply& lacked) {
  if (lacked.items.empty())
    return {"rights", server.name() + ": this user may do what fq needs", Health::ok, ""};
  std::set<std::string> lacking;  // some are needed by both
  for (const Reply& each : lacked.items) lacking.insert(each.text);
  std::string found = server.name() + ": this user may not run";
  for (const std::string& each : lacking) found += " " + each;
  return {"rights", std::move(found), Health::fault, std::string(kGiveRights)};
}

/// What a server says of itself that refuses changes, before it has a function that could be asked for; "":
/// nothing is known.
std::string_view told_refusal(const Server& server) {
  if (server.told("min_slaves_good_slaves") == "0") return "NOREPLICAS";
  return server.told("aof_last_write_status") == "err" ? "MISCONF" : "";
}

/// None: nothing is known of either, as long as no command has loaded the functions.
std::optional<DoctorRow> changes_or_rights_row(Server& server, const ServerAccess& access) {
  const Result<Reply> asked = ask_for_rights(server, access);
  if (asked && asked->kind != Reply::Kind::error) return rights_row(server, *asked);
  std::string_view refusal = asked ? asked->text : std::string_view();
  if (lacks_library(refusal)) refusal = told_refusal(server);
  if (asked && refusal.empty()) return std::nullopt;
  const Error error = asked ? error_of_refusal(server.name(), "FCALL", refusal) : asked.error();
  if (error.kind == ErrorKind::denied)
    return DoctorRow{"rights", error.text, Health::fault, std::string(kGiveRights)};
  return DoctorRow{"changes", error.text, Health::fault, "see to the server: until then it takes no push"};
}

/// None: that it cannot be told is told of other things.
std::optional<DoctorRow> libraries_row(Server& server, const Result<OldLibraries>& libraries) {
  if (!libraries) return std::nullopt;
  const Result<std::optional<OldLibraries::Found>> found = libraries->find(server);
  if (!found) return std::nullopt;
  const std::string front = server.name() + ": ";
  if (!*found) {
    return DoctorRow{"libraries", front + "what other versions of fq have left this user may not see",
                     Health::ok, ""};
  }
  const std::vector<std::string>&others = (*found)->others, &old = (*found)->old;
  std::string text = front + counted(others.size(), "library", "libraries") + " of other versions of fq";
  if (old.empty()) return DoctorRow{"libraries", std::move(text), Health::ok, ""};
  text += ", not used for 30 days:";
  for (const std::string& name : old) text += " " + name;
  return DoctorRow{"libraries", std::move(text), Health::warning,
                   "run fq compact as a user that may delete functions"};
}

bool is_near(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Whoever is on the way reads all, and may say anything.
std::vector<DoctorRow> seal_rows(const RedisPlace& place) {
  const bool is_open = !place.is_sealed && std::any_of(place.hosts.begin(), place.hosts.end(),
                                                       [](const auto& each) { return !is_near(each.name); });
  if (!is_open) return {};
  return {{"network", "redis: goes over the network unsealed", Health::warning,
           "use rediss:, or a tunnel of your own"}};
}

/// Whether who waits is told of what comes.
DoctorRow bell_row(const ServerAccess& access) {
  Bells bells(access.link, access.place, access.password);
  const std::string channel = access.place.key("bell");
  if (bells.listen({&channel, 1}))
    return {"waiting", "the server tells who waits what comes", Health::ok, ""};
  if (!bells.is_refused())
    return {"waiting", "who waits asks each 50 ms: no connection on which the server tells what comes",
            Health::warning, "see to the server"};
  return {"waiting", "who waits asks each 50 ms: this user may not be told what comes", Health::warning,
          "give it the rights that fq-redis acl URL tells"};
}

/// Why shards of a queue cannot be served, by what each begins with; those of servers that are away are none.
std::vector<std::string> bad_roots(const ServerAccess& access, const QueueEntry& entry) {
  const std::vector<std::string> tags = entry.tags.empty() ? std::vector{entry.tag} : entry.tags;
  std::vector<std::vector<std::string>> commands;
  for (const std::string& tag : tags) commands.push_back({"HGET", tag + "h", "schema"});
  const std::vector<Result<Reply>> replies = access.link->ask(commands);
  std::vector<std::string> bad;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i] || replies[i]->text == kSchema) continue;
    const std::string root = in_quotes(commands[i][1]);
    const std::string& there = replies[i]->text;
    bad.push_back(there.empty() ? "lost is " + root : root + " " + other_schema(there, kSchema).text);
  }
  return bad;
}

/// A name stands among the queues before anything of it is there, and until nothing is.
DoctorRow queue_row(const ServerAccess& access, Catalog& catalog, const std::string& queue) {
  const std::string about = "queue " + queue;
  std::string away;
  const Result<std::optional<QueueEntry>> entry = catalog.peek(queue, away);
  if (!entry) return {about, entry.error().text, Health::fault, "fq cannot use it as it is"};
  if (!*entry) {
    return {about, "has a name and nothing else: its making, removing or renaming was broken off",
            Health::warning, "do that again"};
  }
  const size_t shards = std::max<size_t>((*entry)->tags.size(), 1);
  if (const std::vector<std::string> bad = bad_roots(access, **entry); !bad.empty()) {
    return {about,
            std::to_string(bad.size()) + " of " + counted(shards, "shard", "shards") +
                " cannot be served: " + bad[0],
            Health::fault, "bring back the server's data, or remove the queue"};
  }
  std::string found =
      counted(shards, "shard", "shards") + ", events are kept for " + format_duration((*entry)->events_ms);
  if (away.empty()) return {about, std::move(found), Health::ok, ""};
  return {about, std::move(found) + "; told by a copy: " + away, Health::warning,
          "see to that server: until it is back the queue can neither be removed nor get another name"};
}

std::vector<DoctorRow> queue_rows(const ServerAccess& access, const std::optional<std::string>& queue) {
  Catalog catalog(access);
  std::vector<DoctorRow> rows;
  const Result<std::vector<std::string>> names = catalog.list();
  if (!names) return rows;  // what is told of the servers says why
  for (const std::string& name : *names) {
    if (!queue || *queue == name) rows.push_back(queue_row(access, catalog, name));
  }
  return rows;
}

}  // namespace

std::vector<DoctorRow> examine_servers(const ServerAccess& access, const std::optional<std::string>& queue) {
  std::vector<DoctorRow> rows;
  const Result<OldLibraries> libraries = OldLibraries::open(access);
  const auto examine = [&](Server& server) -> Result<void> {
    const int64_t begin_ms = system_clock().boot_ms();
    FQ_TRY(server.call(std::array<std::string_view, 1>{"TIME"}));
    rows.push_back(server_row(server, system_clock().boot_ms() - begin_ms));
    for (DoctorRow& each : std::array{level_row(server), disk_row(server), memory_row(server)})
      rows.push_back(std::move(each));
    if (std::optional<DoctorRow> row = changes_or_rights_row(server, access)) rows.push_back(*std::move(row));
    if (std::optional<DoctorRow> others = libraries_row(server, libraries))
      rows.push_back(*std::move(others));
    return {};
  };
  bool all_answer = true;
  const auto tell_away = [&](const Error& why) {
    rows.push_back({"server", why.text, Health::fault, "see to the server"});
    all_answer = false;
  };
  const Result<void> met = access.link->on_each_there(examine, tell_away);
  if (!met) tell_away(met.error());
  const Result<uint32_t> unserved = access.link->unserved_slots();
  if (unserved && *unserved > 0) {
    rows.push_back({"cluster", std::to_string(*unserved) + " of 16384 slots are served by nobody",
                    Health::fault, "see to its servers: what lies there is away"});
  }
  if (all_answer) rows.push_back(bell_row(access));
  for (DoctorRow& each : seal_rows(access.place)) rows.push_back(std::move(each));
  for (DoctorRow& each : queue_rows(access, queue)) rows.push_back(std::move(each));
  return rows;
}

}  // namespace fq
