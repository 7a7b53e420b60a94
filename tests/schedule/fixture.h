// fixture - a schedule on a plain byte array, with verbs, so that a test's body is a few lines.
//
// The array is as large as the test asks; chunks are taken from its end, as the segment does. Each verb is
// one transaction. The log lies in the array too, so a copy of the array is a killed process's region.
#pragma once

// System.
#include <memory>
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/schedule/memory/histogram.h"
#include "core/schedule/check/faults.h"
#include "core/schedule/look/preview.h"
#include "core/schedule/states/state.h"
#include "tests/catch.h"

namespace fq::test {

struct Header {
  ScheduleRoot root;
  UndoLog log;
};

/// Numbers that look random and are the same each time.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e37'79b9'7f4a'7c15 + 1) {}
  uint32_t roll(uint32_t sides) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>((state_ >> 33) % sides);
  }

 private:
  uint64_t state_;
};

class ScheduleFixture {
 public:
  static constexpr uint32_t kFirstPage = (sizeof(Header) + kPageBytes - 1) / kPageBytes;

  explicit ScheduleFixture(uint32_t mib = 16) : words((size_t{mib} << 20) / 8, 0), next_page(kFirstPage) {
    header().log.count = 0;
    Txn txn = open();
    txn.set(header().root.hash_key[0], 0x1234'5678'9abc'def0);
    txn.set(header().root.hash_key[1], 0x0fed'cba9'8765'4321);
    for (const ArrayName name : kFirstArrays) grow(txn, name);
    schedule().growth().initialise(txn);
    txn.commit();
  }

  std::byte* base() { return reinterpret_cast<std::byte*>(words.data()); }
  uint64_t bytes() const { return words.size() * 8; }
  Header& header() { return *reinterpret_cast<Header*>(base()); }
  Txn open() { return Txn(base(), bytes(), header().log); }
  Arena arena() { return Arena(base(), uint64_t{kFirstPage} * kPageBytes, bytes()); }
  /// A view, made anew where the array lies elsewhere than before: unoptimised, to make one takes longer than
  /// what most verbs do with it.
  Schedule& schedule() {
    if (!view_ || view_->region().arena.base() != base() || view_->region().arena.bytes() != bytes())
      view_.emplace(arena(), header().root);
    return *view_;
  }
  const ScheduleRoot& root() { return header().root; }

  void make_room(const Need& need) {
    for (auto name = schedule().growth().array_for(need); name; name = schedule().growth().array_for(need)) {
      Txn txn = open();
      grow(txn, *name);
      txn.commit();
    }
  }

  /// Pushes `count` messages; ids count from 1.
  ScheduleFixture& push(const std::string& tenant, uint32_t count = 1) {
    for (uint32_t i = 0; i < count; ++i) add({.tenant = tenant});
    return *this;
  }
  uint64_t add(NewEntry entry) {
    entry.id = MessageId{++last_id};
    entry.now_ms = now;
    Need need = Growth::need_of(entry.tenant, entry.key);
    need.extras = entry.extra ? 1 : 0;
    need.keys = entry.key_hold ? 1 : 0;
    make_room(need);
    change([&](Schedule& s, Txn& txn) { s.messages().add(txn, entry); });
    return last_id;
  }
  /// By PlainPush, or as add() does where that takes it not, and returns which.
  bool add_plain(PlainEntry entry) {
    entry.id = MessageId{++last_id};
    entry.now_ms = now;
    make_room(Growth::need_of(entry.tenant, {}));
    bool is_plain = true;
    change([&](Schedule& s, Txn& txn) {
      is_plain = s.plain_push().add(txn, entry).has_value();
      if (is_plain) return;
      s.messages().add(txn, {.id = entry.id,
                             .tenant = entry.tenant,
                             .payload_bytes = entry.payload_bytes,
                             .overhead_bytes = entry.overhead_bytes,
                             .attempts_max = entry.attempts_max,
                             .blob = (entry.flags & kEntryBlob) != 0,
                             .job_flags = static_cast<uint8_t>(entry.flags & kEntryJob),
                             .now_ms = now});
    });
    return is_plain;
  }
  /// Leases the next message and returns its id, 0 when nothing can be served.
  uint64_t lease(const std::string& from = "", int64_t until_ms = kNever,
                 uint16_t attempts_max = UINT16_MAX) {
    std::optional<SlotIndex> slot;
    change([&](Schedule& s, Txn& txn) {
      slot = s.turns().take(
          txn, *s.tenants().find(from),
          {.serial = ++last_serial, .until_ms = until_ms, .attempts_max = attempts_max, .now_ms = now});
    });
    return slot ? schedule().messages().entry(*slot).id.get() : 0;
  }
  /// The next message of all by the plain way where that takes it, or always by the long one.
  struct Leased {
    uint64_t id = 0;  // 0: nothing can be served
    bool plain = false;
  };
  Leased lease_of_all(bool by_plain_way, int64_t until_ms, HolderIndex holder) {
    std::optional<SlotIndex> slot;
    bool plain = false;
    const LeaseTerms terms{.serial = ++last_serial, .holder = holder, .until_ms = until_ms, .now_ms = now};
    change([&](Schedule& s, Txn& txn) {
      if (by_plain_way) slot = PlainLease(s.region()).take(txn, terms);
      plain = slot.has_value();
      if (!slot) slot = s.turns().take_by_parts(txn, kRootTenant, terms);
    });
    return {slot ? schedule().messages().entry(*slot).id.get() : 0, plain};
  }
  /// By PlainAck where that does it, or always by parts; returns whether the plain way was gone.
  bool ack_by(bool plain_way, uint64_t id) {
    bool plain = false;
    change([&](Schedule& s, Txn& txn) {
      plain = plain_way && PlainAck(s.region()).finish(txn, slot(id), {7, now, now});
      if (!plain) s.messages().finish_by_parts(txn, slot(id), RecordType::acked, {7, now, now});
    });
    return plain;
  }
  /// Leases a group, whose ids it returns.
  std::vector<uint64_t> lease_group(size_t most = SIZE_MAX, const std::string& from = "") {
    std::vector<uint64_t> ids;
    const TenantIndex top = *schedule().tenants().find(from);
    change([&](Schedule& s, Txn& txn) {
      std::optional<SlotIndex> slot = s.turns().take(txn, top, {.serial = ++last_serial, .now_ms = now});
      if (!slot) return;
      const TenantIndex leaf{s.messages().entry(*slot).tenant.get()};
      const size_t more = std::min<size_t>(most - 1, s.turns().group_size(leaf, 1) - 1);
      for (; slot; slot = s.turns().take_more(txn, top, leaf, {.serial = ++last_serial, .now_ms = now})) {
        ids.push_back(s.messages().entry(*slot).id);
        if (ids.size() > more) break;
      }
      s.turns().end_group(txn, leaf, now);
    });
    return ids;
  }
  void ack(uint64_t id) {
    change([&](Schedule& s, Txn& txn) {
      s.messages().finish(txn, slot(id), RecordType::acked, {7, now, now});
    });
  }
  bool give_back(uint64_t id, bool counted = false, int64_t due_ms = 0) {
    bool dead = false;
    change([&](Schedule& s, Txn& txn) {
      dead = s.messages().requeue(txn, slot(id), counted, false, due_ms, now);
    });
    return dead;
  }
  /// What `fq tenant set` does; only what is for nodes.
  void set(const std::string& tenant, const PolicyValues& values, const std::vector<PolicyKey>& unset = {}) {
    const NodePatch patch = node_patch(values, unset);
    make_room(Growth::need_of_setting(tenant, patch));
    change([&](Schedule& s, Txn& txn) { s.policy().set(txn, tenant, patch, now); });
  }
  void set(const std::string& tenant, PolicyKey key, int64_t number, int64_t second = 0) {
    set(tenant, {{key, number, second, {}}});
  }
  void set_terms(const Terms& terms) {
    change([&](Schedule& s, Txn& txn) { s.policy().set_terms(txn, terms); });
    make_room({});
    wait_until(now);  // for the nodes to follow
  }
  /// What loading a policy file does; only its tenant entries and pools.
  void load_rules(const std::vector<TenantRule>& rules, const std::vector<PoolRule>& pools = {}) {
    const uint32_t generation =
        rules.empty() && pools.empty() ? 0 : schedule().policy().new_rules(rules_there());
    for (const PoolRule& pool : pools) {
      make_room(Growth::need_of_pool(pool.name));
      change([&](Schedule& s, Txn& txn) {
        s.policy().add_pool(txn, generation, pool.name, node_patch(pool.values, {}));
      });
    }
    for (uint32_t rank = 0; rank < rules.size(); ++rank) {
      const NodePatch patch = node_patch(rules[rank].values, {});
      make_room(Growth::need_of_rule(rules[rank].pattern, patch));
      change([&](Schedule& s, Txn& txn) {
        s.policy().add_rule(txn, generation, rank, rules[rank].pattern, patch);
      });
    }
    change([&](Schedule& s, Txn& txn) { s.policy().make_rules_hold(txn, generation, rules_there()); });
    make_room({.controls = root().tenant_supply.used});
    for (std::optional<uint32_t> at = 0; at;) {
      change([&](Schedule& s, Txn& txn) { at = s.policy().bring_pools_up_to_date(txn, *at, now); });
    }
    for (std::optional<TenantIndex> at = kRootTenant; at;) {
      change([&](Schedule& s, Txn& txn) { at = s.policy().bring_up_to_date(txn, *at, now); });
    }
    for (std::optional<uint32_t> at = 0; at;) {
      change([&](Schedule& s, Txn& txn) { at = s.policy().remove_old_rules(txn, *at); });
    }
    for (std::optional<uint32_t> at = 0; at;) {
      change([&](Schedule& s, Txn& txn) { at = s.policy().remove_old_pools(txn, *at); });
    }
  }
  RuleSummary rules_there() {
    RuleSummary summary;
    schedule().policy().sum_up_rules(0, schedule().policy().rules_end(), summary);
    return summary;
  }
  void unset(const std::string& tenant, PolicyKey key) { set(tenant, {}, {key}); }
  /// Starts nothing of it: until then, or until unpark.
  void park(const std::string& tenant, int64_t until_ms = kNever) {
    if (until_ms == kNever) return set(tenant, PolicyKey::paused, 1);
    set(tenant, PolicyKey::limited, until_ms);
  }
  void unpark(const std::string& tenant) { set(tenant, {}, {PolicyKey::paused, PolicyKey::limited}); }
  void weigh(const std::string& tenant, uint32_t weight_milli) {
    set(tenant, PolicyKey::weight, weight_milli);
  }
  void kick(uint64_t id) {
    change([&](Schedule& s, Txn& txn) { s.messages().kick(txn, slot(id), {now}); });
  }
  void bury(uint64_t id) {
    change([&](Schedule& s, Txn& txn) { s.messages().bury(txn, slot(id), now); });
  }
  /// Lets time go by and fires all that became due.
  uint32_t wait_until(int64_t at_ms) {
    now = at_ms;
    uint32_t all = 0;
    for (uint32_t fired = 1; fired > 0; all += fired) {
      change([&](Schedule& s, Txn& txn) { fired = s.timers().fire(txn, now); });
    }
    return all;
  }

  /// Serves and finishes up to `count` messages: their tenants, or ids, in order.
  std::string serve_tenants(uint32_t count = 1'000'000, const std::string& from = "") {
    std::string out;
    for (uint64_t id; count > 0 && (id = lease(from)) != 0; --count) {
      out += (out.empty() ? "" : " ") + tenant_of(id);
      ack(id);
    }
    return out;
  }
  std::string serve_ids(const std::string& from = "") {
    std::string out;
    for (uint64_t id; (id = lease(from)) != 0;) {
      out += (out.empty() ? "" : " ") + std::to_string(id);
      ack(id);
    }
    return out;
  }
  std::string preview_ids(const std::string& from = "") {
    std::string out;
    const Schedule& s = schedule();
    Preview preview(s, *s.tenants().find(from));
    while (const auto next = preview.next()) {
      out += (out.empty() ? "" : " ") + std::to_string(s.messages().entry(*next).id.get());
    }
    return out;
  }

  SlotIndex slot(uint64_t id) { return schedule().messages().find(MessageId{id}).value(); }
  const Entry& entry(uint64_t id) { return schedule().region().entry(static_cast<uint32_t>(slot(id))); }
  const Tenant& tenant(const std::string& path) {
    return schedule().region().tenant(static_cast<uint32_t>(*schedule().tenants().find(path)));
  }
  std::string tenant_of(uint64_t id) {
    return schedule().tenants().path_of(TenantIndex{entry(id).tenant.get()});
  }
  std::string faults() {
    std::string out;
    for (const auto& line : schedule_faults(schedule())) out += line + "; ";
    return out;
  }

  template <class Change>
  void change(Change what) {
    Txn txn = open();
    what(schedule(), txn);
    noted_most = std::max(noted_most, txn.noted());
    txn.commit();
  }

  std::vector<uint64_t> words;
  uint32_t next_page;
  int64_t now = 1000;
  uint64_t last_id = 0;
  uint64_t last_serial = 0;
  uint32_t noted_most = 0;

 private:
  void grow(Txn& txn, ArrayName name) {
    const Schedule& s = schedule();
    const uint32_t more = s.growth().bytes_of(name);
    FQ_ASSERT(more > 0);
    FQ_ASSERT(uint64_t{next_page} * kPageBytes + more <= bytes());
    s.growth().grow(txn, name, next_page);
    next_page += more / kPageBytes;
  }

  std::optional<Schedule> view_;
};

}  // namespace fq::test
