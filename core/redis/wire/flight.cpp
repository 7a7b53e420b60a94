#include "core/redis/wire/flight.h"

// System.
#include <algorithm>

// fq, below us.
#include "core/base/clock.h"

namespace fq {

namespace {

constexpr int64_t kCallsInTime = 16;  // chosen: a server that needs longer for so many does not keep up

}  // namespace

size_t Flight::add(const std::shared_ptr<Server>& server, Words words) {
  const auto is_it = [&](const Asked& each) { return each.server == server; };
  const auto found = std::find_if(servers_.begin(), servers_.end(), is_it);
  calls_.push_back({static_cast<size_t>(found - servers_.begin())});
  if (found == servers_.end()) servers_.push_back({server});
  ++servers_[calls_.back().server].calls;
  server->add(words);
  return calls_.size() - 1;
}

int64_t Flight::deadline_ms(const Asked& asked, int64_t sent_ms) {
  const int64_t call_ms = asked.server->call_ms();
  return std::min(asked.heard_ms + call_ms, sent_ms + call_ms + call_ms * (asked.calls - 1) / kCallsInTime);
}

void Flight::exchange() {
  for (Asked& each : servers_) {
    if (Result<void> sent = each.server->send(); !sent) each.fault = std::move(sent).error();
  }
  const int64_t sent_ms = system_clock().boot_ms();
  for (Asked& each : servers_) each.heard_ms = sent_ms;
  for (Call& call : calls_) {
    Asked& asked = servers_[call.server];
    call.reply =
        asked.fault ? Result<Reply>(*asked.fault) : asked.server->receive(deadline_ms(asked, sent_ms));
    if (!call.reply) asked.fault = call.reply.error();
    if (call.reply) asked.heard_ms = system_clock().boot_ms();
    asked.has_accepted = asked.has_accepted || (call.reply && call.reply->kind != Reply::Kind::error);
  }
}

/// Behind all of its calls: the server counts from the last one.
void Flight::ask_for_copies(bool is_vital) {
  for (Asked& each : servers_) {
    if (!each.has_accepted) continue;
    const Result<bool> added = each.fault ? Result<bool>(false) : each.server->add_copy_wait(is_vital);
    if (!added) each.fault = added.error();
    each.is_asked = added && *added;
    each.has_copy = !each.is_asked && (!each.fault || each.server->level() == Level::async);
    if (!each.is_asked) continue;
    if (Result<void> sent = each.server->send(); !sent) each.fault = std::move(sent).error();
  }
  for (Asked& each : servers_) {
    if (!each.is_asked || each.fault) continue;
    Result<bool> copied = each.server->receive_copy();
    each.has_copy = copied && *copied;
    if (!copied) each.fault = std::move(copied).error();
  }
}

std::vector<std::shared_ptr<Server>> Flight::lost() const {
  std::vector<std::shared_ptr<Server>> lost;
  for (const Asked& each : servers_) {
    if (each.fault) lost.push_back(each.server);
  }
  return lost;
}

}  // namespace fq
