#include "core/schedule/rings/gathering.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/rings/costs.h"
#include "core/schedule/order/message_order.h"

namespace fq {
namespace {

// So many of those that come first are asked for the oldest of what a group left behind. Mostly that is the
// first: only what came back, and higher priorities, are younger than what comes behind them. Who is missed
// waits for one window more at the most.
constexpr uint32_t kAskedMax = 64;

}  // namespace

bool Gathering::is_waiting(uint32_t i) const { return is_gathering(region_.tenant(i)); }

int64_t Gathering::oldest_ms(uint32_t i) const {
  LaneWalk<MessageKind> walk(MessageKind{&region_}, region_.tenant(i).lane);
  int64_t oldest_ms = kNever;
  uint32_t slot = kNoIndex;
  for (uint32_t asked = 0; asked < kAskedMax && (slot = walk.next()) != kNoIndex; ++asked) {
    oldest_ms = std::min<int64_t>(oldest_ms, region_.entry(slot).at_ms);
  }
  return oldest_ms;
}

void Gathering::close(Txn& txn, uint32_t i, int64_t since_ms) const {
  put(txn, region_.tenant(i).joins, static_cast<uint64_t>(since_ms));
  seats_.block(txn, i, kBlockGather, true);
  limits_.set_timer(txn, i);
}

void Gathering::open(Txn& txn, uint32_t i, int64_t now_ms) const {
  const uint32_t first = MessageLane(MessageKind{&region_}).first(region_.tenant(i).lane);
  const Seats::Arrival group{Costs(region_).of_group(txn, region_.entry(first), now_ms), now_ms, true};
  seats_.block(txn, i, kBlockGather, false, &group);
}

void Gathering::came(Txn& txn, uint32_t i, int64_t since_ms) const {
  const Tenant& tenant = region_.tenant(i);
  const SharedTerms& terms = region_.root.terms;
  const bool first = tenant.lane.count == 1 && terms.linger_ms > 0;
  if (!first && !is_waiting(i)) return;
  if (terms.linger_ms == 0 || tenant.lane.count >= terms.batch_max) return open(txn, i, since_ms);
  // What became due meanwhile, or was put back after damage, may be older than what is there.
  if (first || since_ms < gathers_since_ms(tenant)) close(txn, i, since_ms);
}

void Gathering::emptied(Txn& txn, uint32_t i) const {
  if (is_waiting(i)) seats_.block(txn, i, kBlockGather, false);
}

void Gathering::begin_anew(Txn& txn, uint32_t i, int64_t now_ms) const {
  const Tenant& tenant = region_.tenant(i);
  const SharedTerms& terms = region_.root.terms;
  if (tenant.lane.count == 0 || terms.linger_ms == 0 || tenant.lane.count >= terms.batch_max) return;
  const int64_t since_ms = oldest_ms(i);
  if (window_end_ms(region_, since_ms) > now_ms) close(txn, i, since_ms);
}

void Gathering::fire(Txn& txn, uint32_t i, int64_t now_ms) const {
  if (is_waiting(i) && gathered_at_ms(region_, region_.tenant(i)) <= now_ms) open(txn, i, now_ms);
}

void Gathering::look_again(Txn& txn, uint32_t i, int64_t now_ms) const {
  const Tenant& tenant = region_.tenant(i);
  const SharedTerms& terms = region_.root.terms;
  if (is_inner(tenant)) return;
  const bool waits = terms.linger_ms > 0 && tenant.lane.count != 0 && tenant.lane.count < terms.batch_max;
  const bool was_waiting = is_waiting(i);
  const int64_t since_ms = !waits ? 0 : was_waiting ? gathers_since_ms(tenant) : oldest_ms(i);
  if (waits && window_end_ms(region_, since_ms) > now_ms) {
    close(txn, i, since_ms);
    if (!was_waiting) Costs(region_).note_idle(txn, i, now_ms);
  } else if (was_waiting) {
    open(txn, i, now_ms);
  }
}

}  // namespace fq
