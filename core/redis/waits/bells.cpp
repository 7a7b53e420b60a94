#include "core/redis/waits/bells.h"

// System.
#include <poll.h>

#include <algorithm>
#include <array>
#include <vector>
// fq, below us.
#include "core/base/clock.h"

namespace fq {

namespace {

constexpr int64_t kAgainMs = 1'000;  // after a fault: a server that lets go at once is not called all day
constexpr int64_t kNoRightMs = 3'600'000;  // who has no right may be given it
constexpr int kAtOnceMax = 1024;           // replies, before others have their turn

/// Of a connection that changes nothing.
RedisPlace without_promises(RedisPlace place) {
  place.level = Level::async;
  return place;
}

}  // namespace

Bells::Bells(std::shared_ptr<ServerLink> link, RedisPlace place, std::string password)
    : link_(std::move(link)), place_(std::move(place)), password_(std::move(password)) {}

bool Bells::hears_all(std::span<const std::string> channels) const {
  return std::all_of(channels.begin(), channels.end(), [&](const auto& each) { return hears(each); });
}

Bells::Line* Bells::line_to(const std::string& channel) {
  const Result<RedisPlace> place = link_->place_of(channel);
  if (!place) return nullptr;
  const std::string name = place->hosts.empty() ? place->socket : name_of_host(place->hosts[0]);
  Line& line = lines_[name];
  if (line.server) return &line;
  Result<std::unique_ptr<Server>> opened = Server::open(without_promises(*place), password_);
  if (opened) line.server = std::move(opened).value();
  if (!opened) lines_.erase(name);
  return opened ? &line : nullptr;
}

bool Bells::listen(std::span<const std::string> channels) {
  if (hears_all(channels)) return true;
  if (system_clock().boot_ms() < again_ms_) return false;
  for (const std::string& channel : channels) {
    if (hears(channel)) continue;
    Line* const line = line_to(channel);
    if (line == nullptr) again_ms_ = system_clock().boot_ms() + kAgainMs;
    if (line == nullptr) break;
    line->server->add(std::array<std::string_view, 2>{"SSUBSCRIBE", channel});
    line->asked.push_back(channel);
  }
  const int64_t deadline_ms = system_clock().boot_ms() + place_.call_ms;
  for (auto next = lines_.begin(); next != lines_.end();) {
    const auto line = next++;
    bool is_good = true;
    while (is_good && !line->second.asked.empty()) is_good = read(line->first, line->second, deadline_ms);
    if (!is_good) drop(line);
  }
  return hears_all(channels);
}

/// One reply.
bool Bells::read(const std::string& name, Line& line, int64_t deadline_ms) {
  const Result<std::optional<Reply>> reply = line.server->hear(deadline_ms);
  return reply && *reply && take(name, line, **reply);
}

bool Bells::take(const std::string& name, Line& line, const Reply& reply) {
  if (reply.kind == Reply::Kind::error) return take_refusal(line, reply.text);
  const std::string &what = reply.at(0).text, &channel = reply.at(1).text;
  if (what == "smessage") {
    if (!hears(channel)) return true;
    rung_.insert(channel);
    strike_out(channel);
    rang_ = true;
    return true;
  }
  if (what == "sunsubscribe") {  // another server has it from now on
    link_->forget_owners();
    lose(channel);
    return true;
  }
  if (what != "ssubscribe" || line.asked.empty() || line.asked.front() != channel) return false;
  line.asked.pop_front();
  heard_[channel] = name;
  return true;
}

bool Bells::take_refusal(Line& line, const std::string& refusal) {
  if (line.asked.empty()) return false;
  line.asked.pop_front();
  is_refused_ = refusal.starts_with("NOPERM") || refusal.starts_with("ERR unknown command");
  again_ms_ = system_clock().boot_ms() + (is_refused_ ? kNoRightMs : kAgainMs);
  // Who is asked for all slots may not have heard of it yet.
  if (refusal.starts_with("MOVED ")) link_->note_moved(refusal, *line.server);
  return true;
}

void Bells::lose(const std::string& channel) {
  if (heard_.erase(channel) == 0) return;
  strike_out(channel);
  rang_ = true;
}

void Bells::drop(Lines::iterator line) {
  std::vector<std::string> lost;
  for (const auto& [channel, name] : heard_) {
    if (name == line->first) lost.push_back(channel);
  }
  for (const std::string& channel : lost) lose(channel);
  lines_.erase(line);
  again_ms_ = system_clock().boot_ms() + kAgainMs;
}

/// And waits for nothing.
bool Bells::take_what_came(const std::string& name, Line& line) {
  const int64_t now_ms = system_clock().boot_ms();
  for (int count = 0; count < kAtOnceMax; ++count) {
    const Result<std::optional<Reply>> reply = line.server->hear(now_ms);
    if (reply && !*reply) return true;
    if (!reply || !take(name, line, **reply)) return false;
  }
  rang_ = true;  // nobody sleeps before the rest was taken
  return true;
}

void Bells::take_what_came() {
  for (auto next = lines_.begin(); next != lines_.end();) {
    const auto line = next++;
    if (!take_what_came(line->first, line->second)) drop(line);
  }
}

/// What was read with an answer before it no descriptor tells of.
bool Bells::wait(int64_t at_most_ms, int interrupted) {
  take_what_came();
  std::vector<pollfd> polls;
  for (const auto& [name, line] : lines_) polls.push_back({line.server->descriptor(), POLLIN, 0});
  polls.push_back({interrupted, POLLIN, 0});
  ::poll(polls.data(), polls.size(), rang_ ? 0 : static_cast<int>(at_most_ms));
  take_what_came();
  return std::exchange(rang_, false);
}

bool Bells::take_rung(const std::string& channel) {
  take_what_came();
  return rung_.erase(channel) == 1;
}

}  // namespace fq
