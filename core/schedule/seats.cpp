// seats - see seats.h.
#include "core/schedule/seats.h"

// System.
#include <algorithm>

namespace fq {
namespace {

constexpr uint32_t kRoot = static_cast<uint32_t>(kRootTenant);

uint64_t take_sequence(Txn& txn, Tenant& parent) {
  const uint64_t sequence = parent.joins;
  txn.set(parent.joins, sequence + 1);
  return sequence;
}

}  // namespace

void Seats::settle(Txn& txn, uint32_t i, Coming coming) const {
  StepLimit limit(kDepthMax);
  while (i != kRoot) {
    limit.step();
    Tenant& tenant = region_.tenant(i);
    const bool wanted = can_be_served(tenant);
    Tenant& parent = region_.tenant(tenant.parent);
    if (!is_inner(parent)) throw RegionDamaged{"a parent is no inner node"};
    // Also of one that is blocked: its place in line is that of its first message.
    if (coming == Coming::anew && !is_seated(tenant) && tenant.lane.count == 1) {
      put(txn, tenant.tag, std::max<uint64_t>(parent.vtime + turn_of(tenant.weight_milli), tenant.tag));
    }
    if (wanted == is_seated(tenant)) return;
    if (wanted) {
      put(txn, tenant.tag, std::max<uint64_t>(parent.vtime, tenant.tag));
      put(txn, tenant.sequence, take_sequence(txn, parent));
      ring_.insert(txn, parent.lane, i, tenant);
    } else {
      ring_.remove(txn, parent.lane, i, tenant);
    }
    set_flag(txn, tenant, kTenantSeated, wanted);
    i = tenant.parent;
  }
}

void Seats::block(Txn& txn, uint32_t i, uint8_t reason, bool on) const {
  Tenant& tenant = region_.tenant(i);
  const uint8_t before = tenant.blocks;
  const auto after = static_cast<uint8_t>(on ? before | reason : before & ~unsigned{reason});
  if (after == before) return;
  put(txn, tenant.blocks, after);
  if (reason == kBlockPaused)
    put(txn, region_.root.paused_count, region_.root.paused_count + (on ? 1u : -1u));
  if ((before == 0) == (after == 0)) return;
  put(txn, region_.root.parked_count, region_.root.parked_count + (on ? 1u : -1u));
  settle(txn, i, Coming::back);
}

void Seats::charge(Txn& txn, uint32_t parent_index, uint32_t seat) const {
  Tenant& parent = region_.tenant(parent_index);
  Tenant& tenant = region_.tenant(seat);
  const bool stays = can_be_served(tenant);
  const bool is_head = parent.lane.head == seat;
  if (!stays || !is_head) ring_.remove(txn, parent.lane, seat, tenant);
  put(txn, parent.vtime, tenant.tag.get());
  txn.set(tenant.tag, tenant.tag + turn_of(tenant.weight_milli));
  if (stays) {
    txn.set(tenant.sequence, take_sequence(txn, parent));
    if (is_head && ring_.rotate(txn, parent.lane)) return;
    if (is_head) ring_.remove(txn, parent.lane, seat, tenant);
    ring_.insert(txn, parent.lane, seat, tenant);
  } else {
    set_flag(txn, tenant, kTenantSeated, false);
  }
}

void Seats::replace(Txn& txn, uint32_t i, uint32_t with) const {
  Tenant& tenant = region_.tenant(i);
  Tenant& other = region_.tenant(with);
  put(txn, other.tag, tenant.tag.get());
  put(txn, other.sequence, tenant.sequence.get());
  if (!is_seated(tenant)) return;
  Tenant& parent = region_.tenant(tenant.parent);
  ring_.remove(txn, parent.lane, i, tenant);
  set_flag(txn, tenant, kTenantSeated, false);
  ring_.insert(txn, parent.lane, with, other);
  set_flag(txn, other, kTenantSeated, true);
}

void Seats::set_weight(Txn& txn, uint32_t i, uint32_t weight_milli) const {
  put(txn, region_.tenant(i).weight_milli, weight_milli);
  // A light tenant that becomes heavy must not sit out a turn of its old length.
  even_out(txn, i);
}

void Seats::even_out(Txn& txn, uint32_t i) const {
  if (i == kRoot) return;
  Tenant& tenant = region_.tenant(i);
  Tenant& parent = region_.tenant(tenant.parent);
  const uint64_t tag = std::min<uint64_t>(tenant.tag, parent.vtime + turn_of(tenant.weight_milli));
  if (tag == tenant.tag) return;
  if (is_seated(tenant)) ring_.remove(txn, parent.lane, i, tenant);
  put(txn, tenant.tag, tag);
  if (!is_seated(tenant)) return;
  put(txn, tenant.sequence, take_sequence(txn, parent));
  ring_.insert(txn, parent.lane, i, tenant);
}

}  // namespace fq
