#include "core/redis/wire/server.h"

// System.
#include <algorithm>
#include <array>
#include <random>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr uint64_t kVersionMin = 7;

constexpr size_t kShownMax = 64;  // of an answer that is none; chosen: a line of a screen

constexpr int64_t kLagMs = 10'000;   // so long who was waited for in vain is not waited for again
constexpr int64_t kAloneMs = 1'000;  // so long a master that had no replica is taken to have none
constexpr int64_t kSureMs = 5'000;   // so long one that was a master is taken to be one

/// Of what a server says of itself; "": nothing.
std::string_view field_of(std::string_view info, std::string_view name) {
  const std::string line = "\n" + std::string(name) + ":";
  const size_t at = info.find(line);
  if (at == std::string_view::npos) return {};
  info.remove_prefix(at + line.size());
  return info.substr(0, info.find_first_of("\r\n"));
}

}  // namespace

Result<std::unique_ptr<Server>> Server::open(const RedisPlace& place, const std::string& password) {
  if (place.hosts.empty()) return try_host(place, nullptr, password);
  // Clients of several servers do not all come to the first. Where none is there, the same one is named
  // always.
  const size_t count = place.hosts.size(), first = std::random_device{}() % count;
  std::optional<Error> fault;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = (first + i) % count;
    Result<std::unique_ptr<Server>> server = try_host(place, &place.hosts[at], password);
    if (server || server.error().kind != ErrorKind::later) return server;
    if (!fault || at == 0) fault = server.error();
  }
  return *fault;
}

Result<std::unique_ptr<Server>> Server::try_host(const RedisPlace& place, const RedisPlace::Host* host,
                                                 const std::string& password) {
  FQ_TRY_SET(Wire wire, Wire::connect(place, host));
  std::unique_ptr<Server> server(new Server(std::move(wire), place));
  FQ_TRY(server->log_in(place, password));
  FQ_TRY(server->read_info());
  FQ_TRY(server->choose_database(place.database));
  return server;
}

std::string_view Server::told(std::string_view name) const { return field_of(info_, name); }

void Server::add(Words words) {
  const auto add_line = [&](char kind, size_t number) {
    out_ += kind;
    out_ += std::to_string(number);
    out_ += "\r\n";
  };
  add_line('*', words.size());
  for (const std::string_view word : words) {
    add_line('$', word.size());
    out_.append(word).append("\r\n");
  }
}

Result<void> Server::send() {
  if (out_.empty()) return {};
  FQ_TRY(wire_.write(out_, system_clock().boot_ms() + call_ms_));
  out_.clear();
  return {};
}

Result<Reply> Server::receive() { return receive(system_clock().boot_ms() + call_ms_); }

Result<Reply> Server::receive(int64_t deadline_ms) {
  Result<Reply> reply = receive_next(deadline_ms);
  is_lost_ = is_lost_ || !reply;
  return reply;
}

Result<Reply> Server::receive_next(int64_t deadline_ms) {
  FQ_TRY(send());
  for (;;) {
    Result<std::optional<Reply>> next = parser_.next();
    if (!next) return Error{next.error().kind, name() + ": " + next.error().text, 0};
    if (*next) return std::move(**next);
    in_.clear();
    FQ_TRY(wire_.read(in_, deadline_ms));
    if (Result<void> fed = parser_.feed(in_); !fed)
      return Error{fed.error().kind, name() + ": " + fed.error().text, 0};
  }
}

Result<std::optional<Reply>> Server::hear(int64_t deadline_ms) {
  FQ_TRY(send());
  for (;;) {
    FQ_TRY_SET(std::optional<Reply> next, parser_.next());
    if (next) return next;
    in_.clear();
    FQ_TRY_SET(const bool is_more, wire_.read_until(in_, deadline_ms));
    if (!is_more) return std::optional<Reply>();
    FQ_TRY(parser_.feed(in_));
  }
}

/// Before anything is asked for, so an outcome that is unknown is none; within the time of a connection.
Result<Reply> Server::greet(Words words) {
  add(words);
  Result<Reply> reply = receive(system_clock().boot_ms() + greet_ms_);
  if (!reply && reply.error().kind == ErrorKind::io)
    return Error{ErrorKind::later, name() + ": cannot be reached: it does not answer", 0, true};
  if (reply && reply->kind == Reply::Kind::error) {
    Error refused = error_of_refusal(name(), words[0], reply->text);
    if (refused.kind == ErrorKind::io) refused.kind = ErrorKind::unusable;
    return refused;
  }
  if (!reply && reply.error().kind == ErrorKind::unusable && !in_.empty()) {
    const std::string_view line =
        std::string_view(in_).substr(0, std::min(in_.find_first_of("\r\n"), kShownMax));
    return Error{ErrorKind::unusable,
                 name() + ": answers " + in_quotes(line) +
                     ", which is no Redis protocol; does another program listen there?",
                 0};
  }
  return reply;
}

Result<void> Server::log_in(const RedisPlace& place, const std::string& password) {
  if (!password.empty() && place.user.empty()) {
    FQ_TRY(greet(std::array<std::string_view, 2>{"AUTH", password}));
  } else if (!password.empty() || !place.user.empty()) {
    Result<Reply> known = greet(std::array<std::string_view, 3>{"AUTH", place.user, password});
    const bool is_denied = !known && known.error().kind == ErrorKind::denied;
    if (is_denied && password.empty()) return error_of_refusal(name(), "AUTH", "NOAUTH");
    if (!known) return std::move(known).error();
  }
  return {};
}

Result<void> Server::choose_database(uint32_t database) {
  if (database == 0) return {};
  if (is_cluster_)
    return Error{ErrorKind::config, name() + ": is one of a cluster, which has no database but 0", 0};
  const std::string text = std::to_string(database);
  FQ_TRY(greet(std::array<std::string_view, 2>{"SELECT", text}));
  return {};
}

Result<void> Server::read_info() {
  FQ_TRY_SET(Reply reply, greet(std::array<std::string_view, 1>{"INFO"}));
  info_ = std::move(reply.text);
  const auto unusable = [&](const std::string& what) {
    return Error{ErrorKind::unusable, name() + ": " + what, 0};
  };
  std::string_view version = told("redis_version");
  const std::string shown(version);
  const std::optional<uint64_t> major = take_decimal(version);
  if (!major) return unusable("does not say its version: is it a Redis?");
  if (*major < kVersionMin) return unusable("is a Redis " + shown + "; fq needs 7.0 or a Valkey");
  is_cluster_ = told("redis_mode") == "cluster";
  const bool is_master = told("role") == "master";
  if (!is_cluster_ && !is_master)
    return Error{ErrorKind::later, name() + ": cannot be used: it is a replica; name the master", 0, true};
  if (told("maxmemory_policy") != "noeviction")
    return unusable("would drop messages when its memory is full; set its maxmemory-policy to noeviction");
  run_id_ = told("run_id");
  set_level(info_);
  return level_ == Level::strict && is_master ? check_strict() : Result<void>();
}

/// As it says of itself, where nothing is asked for.
void Server::set_level(std::string_view info) {
  const std::string_view role = field_of(info, "role");
  is_replica_ = role == "slave";
  const bool has_replica = field_of(info, "connected_slaves") != "0" && role == "master";
  level_ = asked_level_.value_or(has_replica ? Level::replica : Level::async);
  const int64_t now_ms = system_clock().boot_ms();
  alone_until_ms_ = now_ms + kAloneMs;
  sure_until_ms_ = now_ms + kSureMs;
}

Result<void> Server::read_replication() {
  FQ_TRY_SET(const Reply reply, call(std::array<std::string_view, 2>{"INFO", "replication"}));
  if (reply.kind != Reply::Kind::error) set_level(reply.text);  // one that is busy tells nothing
  return {};
}

bool Server::is_still_usable() {
  if (is_over()) return false;
  if (is_cluster_ || !has_hosts_ || system_clock().boot_ms() < sure_until_ms_) return true;
  return read_replication().ok() && !is_replica_;
}

/// After a failover it has none until the other one is back; a connection may last far longer than that.
Result<void> Server::look_for_replica() {
  if (asked_level_ || level_ != Level::async || system_clock().boot_ms() < alone_until_ms_) return {};
  return read_replication();
}

/// Without that nothing is accepted on it. It tells its appendfsync only those who may read its settings, and
/// passwords are among these: who may not takes its administrator's word.
Result<void> Server::check_strict() {
  const auto lacks = [&](const std::string& what) {
    return Error{ErrorKind::unusable, name() + ": durability = strict: " + what, 0};
  };
  if (told("aof_enabled") != "1") return lacks("needs its appendonly to be yes");
  if (told("min_slaves_good_slaves").empty())
    return lacks("needs its min-replicas-to-write to be 1 or more, and its min-replicas-max-lag");
  const Result<Reply> reply = greet(std::array<std::string_view, 3>{"CONFIG", "GET", "appendfsync"});
  if (!reply && reply.error().kind == ErrorKind::later) return reply.error();
  says_fsync_ = reply.ok();
  if (says_fsync_ && reply->at(1).text != "always") return lacks("needs its appendfsync to be always");
  return {};
}

Result<bool> Server::add_copy_wait(bool is_vital) {
  FQ_TRY(look_for_replica());
  if (level_ == Level::async || (!is_vital && system_clock().boot_ms() < lags_until_ms_)) return false;
  const std::string wait_ms = std::to_string(std::max<int64_t>(1, call_ms_ - call_ms_ / 4));
  add(std::array<std::string_view, 3>{"WAIT", "1", wait_ms});
  return true;
}

Result<bool> Server::receive_copy() {
  FQ_TRY_SET(const Reply reply, receive());
  if (reply.kind == Reply::Kind::error) return error_of_refusal(name(), "WAIT", reply.text);
  lags_until_ms_ = reply.number >= 1 ? 0 : system_clock().boot_ms() + kLagMs;
  if (reply.number >= 1) return true;
  // It may have none by now: then there is nobody to wait for, from here on neither.
  return !asked_level_ && read_replication() && level_ == Level::async;
}

}  // namespace fq
