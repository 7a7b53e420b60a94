// service - the service that each tenant got lately, to be held against its entitlement.
//
// Counted in the unit that turns are paid in: deliveries, bytes of payload, or time that was run. Half of it
// is forgotten every half minute, for all tenants at the same times: so it speaks of the last minute or two,
// and figures that are compared were halved alike. Counted apart from the scheduler's own books (tags,
// virtual time), so that it can show where those are wrong. It is not rebuilt from the journal.
#pragma once

// System.
#include <algorithm>
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

inline constexpr int64_t kServiceHalfMs = 30'000;
inline constexpr uint32_t kServiceOfTurn = 256;  // so that halving does not make it nothing at once
inline constexpr uint32_t kServiceBytes = 16;    // bytes are counted by so many

/// Given lately, as of now (or of the last that was given, where that is later: ends of leases that ran out
/// are told late).
inline uint32_t service_of(const Tenant& tenant, int64_t now_ms) {
  const auto halves = static_cast<uint32_t>(now_ms / kServiceHalfMs);
  return halves <= tenant.served_at ? tenant.served.get()
                                    : tenant.served >> std::min<uint32_t>(halves - tenant.served_at, 31);
}

inline void service_add(const Opened<Tenant>& tenant, uint64_t amount, int64_t now_ms) {
  const uint64_t all = service_of(*tenant, now_ms) + amount;
  const auto halves = static_cast<uint32_t>(now_ms / kServiceHalfMs);
  tenant.set(&Tenant::served, static_cast<uint32_t>(std::min<uint64_t>(all, UINT32_MAX)));
  if (halves > tenant->served_at) tenant.set(&Tenant::served_at, halves);
}

/// A message of it is delivered.
inline void service_note_start(const Region& region, const Entry& entry, const Opened<Tenant>& tenant,
                               int64_t now_ms) {
  const FairBy by = region.root.terms.fair_by;
  if (by == FairBy::turns) service_add(tenant, kServiceOfTurn, now_ms);
  if (by == FairBy::bytes) service_add(tenant, 1 + entry.payload_bytes / kServiceBytes, now_ms);
}

/// One has run so long.
inline void service_note_end(const Region& region, const Opened<Tenant>& tenant, uint64_t run_ms,
                             int64_t now_ms) {
  if (region.root.terms.fair_by == FairBy::time) service_add(tenant, 1 + run_ms, now_ms);
}

}  // namespace fq
