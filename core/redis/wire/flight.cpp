#include "core/redis/wire/flight.h"

// System.
#include <algorithm>

namespace fq {

size_t Flight::add(const std::shared_ptr<Server>& server, Words words) {
  const auto is_it = [&](const Asked& each) { return each.server == server; };
  const auto found = std::find_if(servers_.begin(), servers_.end(), is_it);
  calls_.push_back({static_cast<size_t>(found - servers_.begin())});
  if (found == servers_.end()) servers_.push_back({server});
  server->add(words);
  return calls_.size() - 1;
}

void Flight::exchange() {
  for (Asked& each : servers_) {
    if (Result<void> sent = each.server->send(); !sent) each.fault = std::move(sent).error();
  }
  for (Call& call : calls_) {
    Asked& asked = servers_[call.server];
    call.reply = asked.fault ? Result<Reply>(*asked.fault) : asked.server->receive();
    if (!call.reply) asked.fault = call.reply.error();
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
