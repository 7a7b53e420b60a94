#include "core/redis/shard/shard.h"

// System.
#include <array>
#include <cerrno>
#include <utility>
// fq, below us.
#include "core/api/policy_text.h"
// fq, this room.
#include "core/redis/wire/answer.h"
#include "core/redis/shard/living_sessions.h"

namespace fq {

namespace {

constexpr int kTicksMax = 100;  // 64 timers each, before a call gives up

bool has_more(const Reply& reply) { return reply.at(0).at(2).number == 1; }
bool is_schedule_due(const Reply& reply) { return reply.at(0).at(5).number == 1; }

}  // namespace

Result<bool> load_library(Server& server, const Library& library) {
  FQ_TRY_SET(const Reply reply,
             server.call(std::array<std::string_view, 3>{"FUNCTION", "LOAD", library.text}));
  if (reply.kind != Reply::Kind::error) return true;
  if (reply.text.find("already exists") != std::string::npos) return false;
  if (reply.text.starts_with("NOPERM")) {
    return Error{
        ErrorKind::unusable,
        server.name() + ": FUNCTION LOAD: this user may not; an administrator must run fq-redis load URL", 0};
  }
  return error_of_refusal(server.name(), "FUNCTION LOAD", reply.text);
}

Result<Reply> call_function(Server& server, const Library& library, std::string_view name, Words keys,
                            Words arguments, bool reads_only) {
  const std::string function = std::string(library.name) + "_" + std::string(name);
  const std::string key_count = std::to_string(keys.size());
  std::vector<std::string_view> words = {reads_only ? "FCALL_RO" : "FCALL", function, key_count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  FQ_TRY_SET(Reply reply, server.call(words));
  if (reply.kind == Reply::Kind::error && lacks_library(reply.text)) {
    FQ_TRY(load_library(server, library));  // or somebody else was as quick
    FQ_TRY_SET(reply, server.call(words));
  }
  if (reply.kind == Reply::Kind::error) return error_of_refusal(server.name(), name, reply.text);
  return reply;
}

int64_t Shard::wall_ahead_ms() const {
  if (access_.told_time == nullptr) return 0;
  return access_.told_time->wall_ms() - access_.told_time->boot_ms();
}

Result<std::vector<std::string>> Shard::keys(std::string& cursor) {
  const ServerLink::Turn held = turn();
  FQ_TRY_SET(Server* const server, this->server());
  const std::string pattern = tag_ + "*";  // prefix and queue have no character that a pattern knows
  FQ_TRY_SET(const Reply page, server->call(std::array<std::string_view, 6>{"SCAN", cursor, "MATCH", pattern,
                                                                            "COUNT", "1000"}));
  if (page.kind == Reply::Kind::error) return error_of_refusal(server->name(), "SCAN", page.text);
  cursor = page.at(0).text;
  std::vector<std::string> names;
  for (const Reply& key : page.at(1).items) {
    if (key.text.starts_with(tag_)) names.push_back(key.text.substr(tag_.size()));
  }
  return names;
}

Result<std::string> Shard::policy_version() {
  const ServerLink::Turn held = turn();
  FQ_TRY_SET(Server* const server, this->server());
  const std::string key = access_.place.key("policy");
  FQ_TRY_SET(const Reply reply, server->call(std::array<std::string_view, 3>{"HGET", key, "version"}));
  if (reply.kind == Reply::Kind::error) return error_of_refusal(server->name(), "HGET", reply.text);
  return reply.is_text() ? reply.text : kNoPolicyVersion;
}

std::string Shard::place() const {
  std::string text = access_.place.socket;
  for (const RedisPlace::Host& host : access_.place.hosts)
    text += host.name + ":" + std::to_string(host.port) + ",";
  return text + "/" + std::to_string(access_.place.database) + "/" + tag_;
}

Result<Server*> Shard::server() {
  if (access_.link) return access_.link->server();
  if (server_ != nullptr && server_->is_over()) server_.reset();
  if (server_ == nullptr) {
    FQ_TRY_SET(server_, Server::open(access_.place, access_.password));
  }
  return server_.get();
}

void Shard::drop() {
  if (access_.link) access_.link->drop();
  server_.reset();
}

Result<Reply> Shard::call(std::string_view function, const std::vector<std::string_view>& arguments,
                          const std::string& other) {
  const ServerLink::Turn held = turn();
  FQ_TRY_SET(Server* const server, this->server());
  // One key that is always there and one that never is: while a cluster moves them, a server refuses the
  // call.
  const std::string root = tag_ + "h", canary = tag_ + "c", root_there = other + "h",
                    canary_there = other + "c";
  std::vector<std::string_view> keys = {root, canary};
  if (!other.empty()) keys.insert(keys.end(), {root_there, canary_there});
  if (access_.told_time != nullptr) {
    const std::string now = std::to_string(access_.told_time->boot_ms());
    const std::string ahead = std::to_string(wall_ahead_ms());
    FQ_TRY(server->call(std::array<std::string_view, 6>{"HSET", root, "clock", now, "ahead", ahead}));
  }
  const bool reads_only = function == "look";
  const std::string sessions = living_sessions().all(place(), nonce_);
  std::vector<std::string_view> words;
  if (!reads_only) words = {server->run_id(), sessions};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Result<Reply> reply = call_function(*server, *access_.library, function, keys, words, reads_only);
  // Whatever comes on it now may be the answer to this.
  if (!reply && reply.error().kind == ErrorKind::io) drop();
  return reply;
}

/// A server that is slow is not asked twice: it would only be slower.
Result<Reply> Shard::call(std::string_view function, const std::vector<std::string_view>& arguments,
                          Lost lost, const std::string& other) {
  Result<Reply> reply = call(function, arguments, other);
  const bool was_cut = !reply && reply.error().kind == ErrorKind::io && reply.error().sys != ETIMEDOUT;
  return was_cut && lost == Lost::is_repeated ? call(function, arguments, other) : std::move(reply);
}

Result<Reply> Shard::change(std::string_view function, const std::vector<std::string_view>& arguments,
                            Lost lost) {
  return change(function, arguments, lost, {});
}

Result<Reply> Shard::change_both(const std::string& other, std::string_view function,
                                 const std::vector<std::string_view>& arguments) {
  return change(function, arguments, Lost::is_unknown, other);
}

Result<Reply> Shard::change(std::string_view function, const std::vector<std::string_view>& arguments,
                            Lost lost, const std::string& other) {
  for (int ticks = 0; ticks < kTicksMax; ++ticks) {
    FQ_TRY_SET(Reply reply, call(function, arguments, lost, other));
    Result<void> seen_to = see_to_schedules(reply);
    if (!has_more(reply)) return reply;  // what was asked for is done, whatever became of them
    FQ_TRY(std::move(seen_to));
  }
  return Error{ErrorKind::later, "queue: too much is due at once; try again", 0};
}

/// Not again for the calls that it makes itself.
Result<void> Shard::see_to_schedules(const Reply& reply) {
  if (!is_schedule_due(reply) || !run_schedules_) return {};
  const std::function<Result<void>()> run = std::exchange(run_schedules_, nullptr);
  Result<void> done = run();
  run_schedules_ = run;
  return done;
}

Result<Reply> Shard::tick() { return change("change", {"cancel"}, Lost::is_repeated); }

Result<Reply> Shard::look(const std::vector<std::string_view>& arguments) {
  for (int ticks = 0;; ++ticks) {
    FQ_TRY_SET(Reply reply, call("look", arguments, Lost::is_repeated));
    const bool is_due = is_schedule_due(reply) && run_schedules_ && ticks < kTicksMax;
    if (is_due && see_to_schedules(reply)) continue;
    if (!has_more(reply) || ticks == kTicksMax) return reply;
    FQ_TRY(tick());
  }
}

}  // namespace fq
