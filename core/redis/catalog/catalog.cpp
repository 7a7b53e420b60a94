#include "core/redis/catalog/catalog.h"

// System.
#include <algorithm>
#include <array>
#include <map>
#include <set>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/host_name.h"
#include "core/base/tenant_name.h"
#include "core/base/text/escape.h"
#include "core/engine/no_such_queue.h"
// fq, this room.
#include "core/redis/catalog/removed_keys.h"
#include "core/redis/records/base32.h"
#include "core/redis/records/records.h"
#include "core/redis/shard/shard_places.h"

namespace fq {

namespace {

constexpr uint32_t kShardsOfCluster = 64;  // of a queue that is made there without a word about it
constexpr uint64_t kIdStep = kShardsMax;   // ids of a shard are its number, modulo that

Error taken(const std::string& name) {
  return Error{ErrorKind::usage, "queue " + in_quotes(name) + ": exists; choose another name", 0};
}

/// `attached`: a process, and its host.
Error in_use(const std::string& queue, const Reply& pid, const Reply& host) {
  std::string who = pid.number == 0 ? "what a dead worker's job left" : "process " + std::to_string(pid.number);
  if (!host.text.empty() && host.text != host_name()) who += " on " + host.text;
  return Error{ErrorKind::later, "queue " + in_quotes(queue) + ": is in use by " + who + "; end it first", 0};
}

template <size_t kCount>
using WordList = std::array<std::string_view, kCount>;

}  // namespace

std::string Catalog::key_of(const std::string& queue, std::string_view what) const {
  return access_.place.key("{" + queue + "}:" + std::string(what));
}

/// `place`: what is between the braces of its keys.
std::string Catalog::tag_at(const std::string& place) const { return access_.place.key("{" + place + "}:"); }

std::vector<std::string> Catalog::tags_in(const std::string& places) const {
  std::vector<std::string> tags;
  for (const std::string& place : places_in(places)) tags.push_back(tag_at(place));
  return tags;
}

/// With a rename that was broken off brought to its end.
Result<Fixed> Catalog::meta_of(const std::string& queue) {
  FQ_TRY_SET(Fixed meta, meta_.read(queue));
  if (meta.empty()) {
    FQ_TRY_SET(const bool is_back, put_back(queue));
    if (!is_back) return meta;
    FQ_TRY_SET(meta, meta_.read(queue));
  }
  return finished(queue, std::move(meta));
}

Result<bool> Catalog::put_back(const std::string& queue) {
  FQ_TRY_SET(const std::vector<Fixed> copies, meta_.forgotten(queue));
  for (const Fixed& copy : copies) {
    FQ_TRY_SET(const std::string other, marked(copy.at("mark")));  // it may have been called otherwise
    if (other == queue) return true;                               // somebody else was as quick
    if (!other.empty()) continue;
    const std::string meta = key_of(queue, "meta"), queues = access_.place.key("queues");
    std::vector<std::string_view> fields = {"whole", "1"};
    for (const auto& [field, value] : copy) {
      if (!value.empty()) fields.insert(fields.end(), {field, value});
    }
    FQ_TRY(call(WordList<3>{"SADD", queues, queue}));
    FQ_TRY(call_function(*access_.link, *access_.library, "make", WordList<1>{meta}, fields));
    return true;
  }
  return false;
}

Result<Fixed> Catalog::finished(const std::string& queue, Fixed meta) {
  const bool leaves = meta.contains("to");
  if (!leaves && !meta.contains("was")) return meta;
  if (leaves) FQ_TRY(finish_rename(queue, meta));
  if (!leaves) FQ_TRY(drop_name(meta["was"], queue, meta["places"]));
  return meta_.read(queue);
}

Result<std::optional<QueueEntry>> Catalog::find(const std::string& queue) {
  FQ_TRY_SET(QueueMeta::Told told, meta_.tell(queue));
  if (!told.away.empty()) return entry_of(queue, told.fixed);
  if (told.fixed.empty()) {
    FQ_TRY_SET(told.fixed, meta_of(queue));
  }
  FQ_TRY_SET(Fixed meta, finished(queue, std::move(told.fixed)));
  FQ_TRY_SET(std::optional<QueueEntry> entry, entry_of(queue, meta));
  if (!entry) return entry;
  // Somebody may be making it just now. Where this fails and was needed, its first call says so.
  const bool is_whole = make_whole(queue, meta).ok();
  if (is_whole && meta_.may_lack_copies(meta)) meta_.make_copies(queue, meta);
  return entry;
}

Result<std::optional<QueueEntry>> Catalog::peek(const std::string& queue, std::string& away) {
  FQ_TRY_SET(QueueMeta::Told told, meta_.tell(queue));
  if (told.fixed.empty()) {
    FQ_TRY_SET(told.fixed, meta_of(queue));
  }
  away = std::move(told.away);
  return entry_of(queue, told.fixed);
}

Result<std::optional<QueueEntry>> Catalog::entry_of(const std::string& queue, const Fixed& meta) const {
  if (meta.empty()) return std::optional<QueueEntry>();
  const auto places = meta.find("places");
  std::vector<std::string> tags = tags_in(places == meta.end() ? std::string() : places->second);
  FQ_TRY_SET(QueueEntry entry, read_queue_entry(queue, key_of(queue, "meta"), meta, std::move(tags)));
  return std::optional(std::move(entry));
}

Result<std::vector<std::string>> Catalog::free_places(std::vector<std::string> places) {
  for (bool is_free = false; !is_free;) {
    std::vector<std::vector<std::string>> commands;
    for (const std::string& place : places) commands.push_back({"EXISTS", tag_at(place) + "h"});
    const std::vector<Result<Reply>> taken = access_.link->ask_and_wait(commands);
    is_free = true;
    for (size_t i = 0; i < places.size(); ++i) {
      if (!taken[i]) return taken[i].error();
      if (taken[i]->number == 0) continue;
      places[i] = other_shard_place(places[i]);
      is_free = false;
    }
  }
  return places;
}

/// Not only by whoever makes the queue: that one may be slow, or have been killed in between.
Result<void> Catalog::make_whole(const std::string& queue, Fixed& meta) {
  if (meta["whole"] == "1") return {};
  FQ_TRY(make_roots(tags_in(meta["places"]), meta["events"]));
  const std::string key = key_of(queue, "meta");
  FQ_TRY(call_function(*access_.link, *access_.library, "whole", WordList<1>{key}, {}));
  return {};
}

Result<void> Catalog::make_roots(const std::vector<std::string>& tags, const std::string& events_ms) {
  const std::string step = std::to_string(kIdStep);
  for (size_t shard = 0; shard < tags.size(); ++shard) {
    const std::string root = tags[shard] + "h", first = std::to_string(shard);
    std::vector<std::string_view> fields = {"schema", kSchema, "now", "0", "n", first, "serial", "0"};
    if (tags.size() > 1) fields.insert(fields.end(), {"step", step});
    if (!events_ms.empty()) fields.insert(fields.end(), {"events", events_ms});
    FQ_TRY(call_function(*access_.link, *access_.library, "make", WordList<1>{root}, fields));
  }
  return {};
}

/// True: it was not there.
Result<bool> Catalog::make_meta(const std::string& queue, const CreateOptions& options) {
  FQ_TRY_SET(const bool is_cluster, access_.link->is_cluster());
  // On a cluster as many as a hundred servers can share, elsewhere one, which is exact in everything.
  const uint32_t shards = options.shards.value_or(is_cluster ? kShardsOfCluster : 1);
  const std::string meta = key_of(queue, "meta"), count = std::to_string(shards), spread = drawn_spread();
  const std::string events_ms = std::to_string(options.events_ms.value_or(kEventsMsUsual));
  FQ_TRY_SET(const std::string mark, new_mark());
  FQ_TRY_SET(const std::vector<std::string> free,
             free_places(spread_shard_places(queue, shards, is_cluster)));
  const std::string places = joined_places(free);
  std::vector<std::string_view> fields = {"schema", kSchema, "shards", count, "mark", mark, "places", places};
  if (shards > 1) fields.insert(fields.end(), {"spread", spread});
  if (options.events_ms) fields.insert(fields.end(), {"events", events_ms});
  FQ_TRY_SET(const Reply made,
             call_function(*access_.link, *access_.library, "make", WordList<1>{meta}, fields));
  return made.at(0).number == 1;
}

Result<bool> Catalog::create(const std::string& queue, const CreateOptions& options) {
  const std::string queues = access_.place.key("queues");
  FQ_TRY(call(WordList<3>{"SADD", queues, queue}));
  FQ_TRY_SET(auto there, meta_of(queue));
  bool is_new = false;
  if (there.empty()) {
    FQ_TRY(call(WordList<3>{"SADD", queues, queue}));  // a rename may have taken it out meanwhile
    FQ_TRY_SET(is_new, make_meta(queue, options));
    FQ_TRY_SET(there, meta_of(queue));
  }
  if (there.empty())
    return Error{ErrorKind::later, "queue " + in_quotes(queue) + ": is being removed; try again", 0};
  FQ_TRY(check_is_as_asked(queue, options, there["shards"], there["events"]));
  FQ_TRY(make_whole(queue, there));
  meta_.make_copies(queue, there);  // also where they are told to be there, and a server has forgotten one
  return is_new;
}

Result<std::vector<std::string>> Catalog::list() {
  const std::string queues = access_.place.key("queues");
  FQ_TRY_SET(const Reply reply, call(WordList<2>{"SMEMBERS", queues}));
  std::vector<std::string> names;
  for (const Reply& each : reply.items) {
    if (queue_name_fault(each.text).empty()) names.push_back(each.text);  // others may write there, too
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> Catalog::marked(std::string_view mark) {
  FQ_TRY_SET(const std::vector<std::string> queues, list());
  std::optional<Error> fault;  // of what may be the one
  for (const std::string& queue : queues) {
    // Not what else is fixed of it: a queue that cannot be used keeps nobody from using others.
    const Result<std::string> has = meta_.mark(queue);
    if (!has) fault = has.error();
    if (!has || *has != mark.substr(0, kMarkLength)) continue;
    FQ_TRY_SET(const std::optional<QueueEntry> entry, find(queue));
    if (entry) return queue;
  }
  return fault ? Result<std::string>(*fault) : std::string();
}

Result<std::string> Catalog::new_mark() {
  for (;;) {
    std::string mark = draw_base32(kMarkLength);
    FQ_TRY_SET(const std::string other, marked(mark));
    if (other.empty()) return mark;
  }
}

/// Each shard does what is due first, and finds so who may live whom its server could not hear; who asks
/// again and again is a sign that it hears. In one that has lost what it begins with nobody is at work: its
/// queue can be given up.
Result<void> Catalog::check_unattended(const std::string& queue, const std::string& places) {
  for (const std::string& tag : tags_in(places)) {
    Shard shard(access_, tag, draw_base32(kNonceBytes));
    static_cast<void>(shard.tick());  // where it cannot, those that are there still count
    const Result<Reply> reply = shard.look({"anybody"});
    const bool is_lost =
        !reply && (reply.error().kind == ErrorKind::missing || reply.error().kind == ErrorKind::unusable);
    if (is_lost) continue;
    if (!reply) return reply.error();
    const Reply& said = reply->at(1);
    if (said.at(0).number >= 0) return in_use(queue, said.at(0), said.at(1));
  }
  return {};
}

Result<void> Catalog::remove(const std::string& queue) {
  const std::string queues = access_.place.key("queues");
  FQ_TRY_SET(auto there, meta_of(queue));  // it may have another name by now
  FQ_TRY_SET(const Reply known, call(WordList<3>{"SISMEMBER", queues, queue}));
  if (known.number == 0) return no_such_queue(queue);
  FQ_TRY(check_unattended(queue, there["places"]));
  FQ_TRY(meta_.give_up_copies(queue, there["places"]));
  FQ_TRY(remove_rest(queue));
  const std::string meta = key_of(queue, "meta"), gone = key_of(queue, "gone");
  // First what makes it a queue: whoever comes now finds it missing and puts nothing there.
  FQ_TRY(rename_key(meta, gone));
  FQ_TRY(remove_rest(queue));
  FQ_TRY(call(WordList<3>{"SREM", queues, queue}));
  return {};
}

Result<void> Catalog::rename_key(const std::string& key, const std::string& name) {
  FQ_TRY_SET(const Reply there, call(WordList<2>{"EXISTS", key}));
  if (there.number == 0) return {};
  const Result<Reply> renamed = call(WordList<3>{"RENAME", key, name});
  if (renamed) return {};
  FQ_TRY_SET(const Reply left, call(WordList<2>{"EXISTS", key}));
  return left.number == 0 ? Result<void>() : Result<void>(renamed.error());
}

/// Of one that is none any more: its keys, and last what says where they are.
Result<void> Catalog::remove_rest(const std::string& queue) {
  const std::string gone = key_of(queue, "gone");
  FQ_TRY_SET(const Reply places, call(WordList<3>{"HGET", gone, "places"}));
  const std::vector<std::string> tags = tags_in(places.text);
  if (tags.empty()) return {};
  FQ_TRY(meta_.drop_copies(queue, places.text));
  for (const std::string& tag : tags) {
    const std::string root = tag + "h";
    FQ_TRY(call(WordList<2>{"UNLINK", root}));
  }
  FQ_TRY(remove_keys(*access_.link, tags));
  FQ_TRY(call(WordList<2>{"UNLINK", gone}));
  return {};
}

Result<void> Catalog::rename(const std::string& queue, const std::string& name) {
  FQ_TRY_SET(const std::optional<QueueEntry> entry, find(queue));
  if (!entry) return no_such_queue(queue);
  FQ_TRY_SET(const bool is_cluster, access_.link->is_cluster());
  return is_cluster ? rename_in_parts(*entry, name) : rename_at_once(*entry, name);
}

Result<void> Catalog::rename_at_once(const QueueEntry& entry, const std::string& name) {
  const std::string& queue = entry.name;
  FQ_TRY(check_unattended(queue, entry.places));
  std::vector<std::string> keys = {key_of(queue, "meta"), key_of(name, "meta"), access_.place.key("queues")};
  for (const std::string& tag : tags_in(entry.places)) keys.push_back(tag + "h");
  FQ_TRY_SET(const Reply reply, call_function(*access_.link, *access_.library, "rename",
                                              std::vector<std::string_view>(keys.begin(), keys.end()),
                                              WordList<3>{queue, name, entry.places}));
  const std::string& said = reply.at(0).text;
  if (said == "exists") return taken(name);
  if (said == "attached") return in_use(queue, reply.at(1), reply.at(2));
  return said == "renamed" ? Result<void>() : no_such_queue(queue);
}

Result<std::string> Catalog::retitle(const std::string& queue, std::string_view part,
                                     const std::string& places, const std::string& name) {
  const std::string meta = key_of(queue, "meta");
  FQ_TRY_SET(const Reply reply, call_function(*access_.link, *access_.library, "retitle", WordList<1>{meta},
                                              WordList<3>{part, places, name}));
  return reply.at(0).text;
}

Result<void> Catalog::rename_in_parts(const QueueEntry& entry, const std::string& name) {
  const std::string queues = access_.place.key("queues");
  FQ_TRY_SET(const Reply listed, call(WordList<3>{"SISMEMBER", queues, name}));
  FQ_TRY_SET(const auto there, meta_of(name));
  if (listed.number == 1 || !there.empty()) return taken(name);
  FQ_TRY(check_unattended(entry.name, entry.places));
  FQ_TRY(meta_.give_up_copies(entry.name, entry.places));
  FQ_TRY_SET(const std::string gets, retitle(entry.name, "begin", entry.places, name));
  FQ_POINT("retitle.begun");
  if (gets.empty()) return no_such_queue(entry.name);
  FQ_TRY_SET(const Fixed meta, meta_.read(entry.name));
  const bool is_there = meta.contains("to");  // else somebody has finished it
  FQ_TRY_SET(const bool done, is_there ? finish_rename(entry.name, meta) : Result<bool>(true));
  if (!done) return taken(name);
  if (gets == name) return {};
  return Error{ErrorKind::later,
               "queue " + in_quotes(entry.name) + ": somebody else has called it " + in_quotes(gets), 0};
}

Result<bool> Catalog::finish_rename(const std::string& queue, const Fixed& meta) {
  const std::string name = meta.at("to"), there = key_of(name, "meta"), queues = access_.place.key("queues");
  const auto at = meta.find("places");
  const std::string places = at == meta.end() ? std::string() : at->second;
  FQ_TRY(call(WordList<3>{"SADD", queues, name}));
  FQ_POINT("retitle.listed");
  std::vector<std::string_view> fields = {"was", queue};
  for (const auto& [field, value] : meta) {
    if (field != "to" && field != "was" && field != "copies") fields.insert(fields.end(), {field, value});
  }
  FQ_TRY(call_function(*access_.link, *access_.library, "make", WordList<1>{there}, fields));
  FQ_POINT("retitle.made");
  FQ_TRY_SET(Fixed found, meta_.read(name));
  if (found["places"] == places) {
    FQ_TRY(drop_name(queue, name, places));
    return true;
  }
  FQ_TRY(retitle(queue, "leave_off", places, name));
  return false;
}

/// The queue is called `name` by now. Another may be made under its old one at any moment.
Result<void> Catalog::drop_name(const std::string& queue, const std::string& name,
                                const std::string& places) {
  const std::string queues = access_.place.key("queues"), meta = key_of(queue, "meta");
  FQ_TRY(call(WordList<3>{"SREM", queues, queue}));
  FQ_POINT("retitle.unlisted");
  FQ_TRY(meta_.drop_copies(queue, places));
  FQ_TRY(retitle(queue, "drop", places, name));
  FQ_POINT("retitle.dropped");
  FQ_TRY_SET(const Reply another, call(WordList<2>{"EXISTS", meta}));
  if (another.number == 1) FQ_TRY(call(WordList<3>{"SADD", queues, queue}));
  FQ_TRY(retitle(name, "settle", places, queue));
  return {};
}

/// Another queue may have had the name: its places are others.

}  // namespace fq
