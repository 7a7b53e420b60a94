#include "core/redis/wire/server.h"

// System.
#include <array>
#include <random>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr uint64_t kVersionMin = 7;

/// What INFO says under a name; "": nothing.
std::string_view told(std::string_view info, std::string_view name) {
  const std::string line = "\n" + std::string(name) + ":";
  const size_t at = info.find(line);
  if (at == std::string_view::npos) return {};
  info.remove_prefix(at + line.size());
  return info.substr(0, info.find_first_of("\r\n"));
}

}  // namespace

Result<std::unique_ptr<Server>> Server::open(const RedisPlace& place, const std::string& password) {
  if (place.hosts.empty()) return try_host(place, nullptr, password);
  // Clients of several servers do not all come to the first.
  const size_t first = std::random_device{}() % place.hosts.size();
  for (size_t i = 0;; ++i) {
    const RedisPlace::Host& host = place.hosts[(first + i) % place.hosts.size()];
    Result<std::unique_ptr<Server>> server = try_host(place, &host, password);
    const bool is_last = i + 1 == place.hosts.size();
    if (server || is_last || server.error().kind != ErrorKind::later) return server;
  }
}

Result<std::unique_ptr<Server>> Server::try_host(const RedisPlace& place, const RedisPlace::Host* host,
                                                 const std::string& password) {
  FQ_TRY_SET(Wire wire, Wire::connect(place, host));
  std::unique_ptr<Server> server(new Server(std::move(wire), place.call_ms));
  FQ_TRY(server->log_in(place, password));
  FQ_TRY(server->look_at_it());
  return server;
}

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

Result<Reply> Server::receive() {
  const int64_t deadline_ms = system_clock().boot_ms() + call_ms_;
  FQ_TRY(wire_.write(out_, deadline_ms));
  out_.clear();
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

/// Before anything is asked for, so an outcome that is unknown is none.
Result<Reply> Server::greet(Words words) {
  Result<Reply> reply = call(words);
  if (!reply && reply.error().kind == ErrorKind::io)
    return Error{ErrorKind::later, name() + ": cannot be reached: it does not answer", 0};
  if (reply && reply->kind == Reply::Kind::error) return error_of_refusal(name(), words[0], reply->text);
  return reply;
}

Result<void> Server::log_in(const RedisPlace& place, const std::string& password) {
  if (!password.empty() && place.user.empty()) {
    FQ_TRY(greet(std::array<std::string_view, 2>{"AUTH", password}));
  } else if (!password.empty() || !place.user.empty()) {
    FQ_TRY(greet(std::array<std::string_view, 3>{"AUTH", place.user, password}));
  }
  if (place.database == 0) return {};
  const std::string database = std::to_string(place.database);
  FQ_TRY(greet(std::array<std::string_view, 2>{"SELECT", database}));
  return {};
}

Result<void> Server::look_at_it() {
  FQ_TRY_SET(const Reply reply, greet(std::array<std::string_view, 1>{"INFO"}));
  const std::string_view info = reply.text;
  const auto unusable = [&](const std::string& what) {
    return Error{ErrorKind::unusable, name() + ": " + what, 0};
  };
  std::string_view version = told(info, "redis_version");
  const std::string shown(version);
  const std::optional<uint64_t> major = take_decimal(version);
  if (!major) return unusable("does not say its version: is it a Redis?");
  if (*major < kVersionMin) return unusable("is a Redis " + shown + "; fq needs 7.0 or a Valkey");
  if (told(info, "redis_mode") == "cluster")
    return unusable("is one of a cluster, which fq-redis does not speak to yet");
  if (told(info, "role") != "master")
    return Error{ErrorKind::later, name() + ": cannot be used: it is a replica; name the master", 0};
  if (told(info, "maxmemory_policy") != "noeviction")
    return unusable("would drop messages when its memory is full; set its maxmemory-policy to noeviction");
  run_id_ = told(info, "run_id");
  return {};
}

}  // namespace fq
