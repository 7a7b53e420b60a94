// schedule - who is next: the one object through which messages and tenants in the segment change.
//
// A pure library over a byte region and a given time: no locks, no system calls, no clock, no allocation
// in anything that takes a Txn. The caller holds the state lock. Every call that takes a Txn makes at most
// the element steps that its comment names, so that the caller can fit several in one transaction.
#pragma once

// System.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/text/counted_lines.h"
// fq, this room.
#include "core/schedule/rings/blockers.h"
#include "core/schedule/memory/layout.h"
#include "core/schedule/memory/node_values.h"
#include "core/schedule/memory/region.h"
#include "core/schedule/tree/rules.h"
#include "core/schedule/memory/terms.h"
#include "core/schedule/order/unique_keys.h"
#include "core/schedule/order/waits.h"

namespace fq {

/// Room that a change may need, at most. Only pushes need any.
struct Need {
  uint32_t messages = 0;
  uint32_t tenants = 0;
  uint32_t text_cells = 0;
  uint32_t extras = 0;
  uint32_t keys = 0;
  uint32_t controls = 0;  // beside those that rules may give new tenants
  uint32_t rules = 0;
  uint32_t waits = 0;
  uint32_t pools = 0;

  Need& operator+=(const Need& more) {
    messages += more.messages;
    tenants += more.tenants;
    text_cells += more.text_cells;
    extras += more.extras;
    keys += more.keys;
    controls += more.controls;
    rules += more.rules;
    waits += more.waits;
    pools += more.pools;
    return *this;
  }
  bool is_within(const Need& room) const {
    return messages <= room.messages && tenants <= room.tenants && text_cells <= room.text_cells &&
           extras <= room.extras && keys <= room.keys && controls <= room.controls && rules <= room.rules &&
           waits <= room.waits && pools <= room.pools;
  }
};

/// What is kept free beyond the need of one push, of what it needs, so that growing happens ahead; chosen.
inline constexpr Need kGrowthMargin{
    .messages = 64, .tenants = 16, .text_cells = 64, .extras = 16, .keys = 16, .waits = 64};

struct NewEntry {
  MessageId id{};
  std::string_view tenant;  // a valid path
  std::string_view key;     // order-preserving bytes, empty for none
  int32_t priority = 0;
  uint64_t item_position = 0;
  uint32_t payload_bytes = 0;
  uint64_t overhead_bytes = 0;  // in the journal beside its payload
  uint16_t attempts_max = 0;    // 0: the queue's, when leased
  bool blob = false;
  uint8_t job_flags = 0;  // of kEntryJob
  bool extra = false;     // it has one: needs room for it
  bool expired = false;   // restored only: dead for that reason
  int64_t ttl_ms = kNever;
  std::optional<NewKey> key_hold;  // of --unique or --debounce
  Bytes after;                     // u64 each: an id with kAfter... of core/journal/record.h
  int64_t due_ms = 0;              // boot time; at or before now_ms: ready at once
  int64_t now_ms = 0;
};

/// What a message was when it was copied forward; restore() puts it back so.
struct RestoredEntry {
  NewEntry entry;
  SlotState state{};
  int64_t at_ms = 0;
  uint64_t event_position = 0;
  uint64_t serial = 0;
  HolderIndex holder = kHeldByTime;
  uint32_t deliveries = 0;
  uint16_t attempts = 0, attempts_max = 0, crashes = 0;
};

struct LeaseTerms {
  uint64_t serial = 0;
  HolderIndex holder = kHeldByTime;
  int64_t until_ms = kNever;  // kNever: held by the process alone
  uint16_t attempts_max = 0;  // for messages without their own
  int64_t now_ms = 0;
};

class RankedPreview;

class Schedule {
 public:
  Schedule(Arena arena, ScheduleRoot& root) : region_{arena, root} {}

  // ---- room --------------------------------------------------------------------------------------

  /// Makes the root tenant and empty structures. Needs: zeroed bytes, at least one chunk an array, and
  /// root.hash_key set.
  void initialise(Txn& txn);
  /// Which array has to grow before `need` fits (with a margin ahead of it), or none.
  std::optional<ArrayName> growth_for(const Need& need) const;
  uint32_t growth_bytes(ArrayName array) const;  // 0: it is at its limit
  void grow(Txn& txn, ArrayName array, uint32_t page);
  /// An upper bound of what adding a message of this tenant and key needs.
  static Need need_of(std::string_view tenant, std::string_view key);
  bool fits(const Need& need) const;

  // ---- messages ----------------------------------------------------------------------------------

  /// At most 24 steps (8 new tenants, a lane or the heap). Needs: fits(need_of(tenant, key)); where it does
  /// not, RegionDamaged is thrown.
  SlotIndex add(Txn& txn, const NewEntry& entry);
  SlotIndex restore(Txn& txn, const RestoredEntry& entry);
  std::optional<SlotIndex> find(MessageId id) const;
  const Entry& entry(SlotIndex slot) const { return region_.entry(static_cast<uint32_t>(slot)); }
  /// Ready and not started in time: dead from then on; kNever where that cannot be.
  int64_t expires_ms(SlotIndex slot) const;
  int64_t ttl_ms(SlotIndex slot) const;  // that still holds, from when it is due; kNever: none
  bool has_expired(SlotIndex slot) const;
  std::string key_of(SlotIndex slot) const;  // order-preserving bytes; allocates: not under a hot path
  int32_t priority_of(SlotIndex slot) const;

  /// The message whose turn is next below `from`; what lease_next would take.
  std::optional<SlotIndex> next(TenantIndex from) const;
  /// Takes the next turn below `from`: chooses the message whose turn it is, charges its tenants and
  /// leases it. Nodes above `from` are not charged. None when nothing can be served (`from` or a node above
  /// it may be parked), or when the TTL of that message is over and its timer not fired yet. At most 20
  /// steps.
  std::optional<SlotIndex> lease_next(Txn& txn, TenantIndex from, const LeaseTerms& terms);
  /// A group is begun with lease_next and taken on with this: the next message of that leaf, which is charged
  /// as a turn. None when nothing more of it can be served, also because of a limit. At most 20 steps.
  std::optional<SlotIndex> lease_more(Txn& txn, TenantIndex from, TenantIndex leaf, const LeaseTerms& terms);
  /// How many messages a group of this leaf has, of which so many were taken.
  uint64_t group_size(TenantIndex leaf, uint64_t taken) const;
  /// The group is taken: what is left of that leaf gathers anew. At most 8 steps.
  void end_group(Txn& txn, TenantIndex leaf, int64_t now_ms);
  /// Leases this message, whatever its turn and state (replay); charges nobody. At most 12 steps.
  void lease(Txn& txn, SlotIndex slot, const LeaseTerms& terms);
  /// A leased message has run so long (none: since its delivery): with fair_by time its nodes pay for it. Its
  /// end does so too, which then adds nothing. At most two steps a level.
  void end_run(Txn& txn, SlotIndex slot, std::optional<uint64_t> run_us, int64_t now_ms);
  void extend(Txn& txn, SlotIndex slot, int64_t until_ms);

  /// Gives a message back to its old place: ready, or delayed when due_ms is after now_ms. `counted`: an
  /// attempt; `crashed`: its holder died or its time was over. Where that was the last attempt it is dead
  /// instead; returns true then. At most 12 steps.
  bool give_back(Txn& txn, SlotIndex slot, bool counted, bool crashed, int64_t due_ms, int64_t now_ms);
  void bury(Txn& txn, SlotIndex slot, int64_t now_ms);
  /// Dead or delayed to ready; attempts start anew, a TTL no longer holds.
  /// `hold`: a dead one that was held before is held again, until what it came after has ended.
  void kick(Txn& txn, SlotIndex slot, int64_t now_ms, bool hold = false);
  /// Ends a message (`verdict` acked or cancelled) and frees its slot; leaves an outcome.
  void finish(Txn& txn, SlotIndex slot, RecordType verdict, uint64_t event_position, int64_t now_ms,
              int64_t at_wall_ms);
  /// Another payload in its place, and of a delayed one another due time (kNever: the one that it has). At
  /// most 3 steps.
  struct Replacement {
    uint64_t item_position = 0;
    uint32_t payload_bytes = 0;
    bool blob = false;
    uint8_t job_flags = 0;  // of kEntryJob
    uint64_t overhead_bytes = 0;
    int64_t due_ms = kNever;
  };
  void replace(Txn& txn, SlotIndex slot, const Replacement& replacement);
  /// And was not copied forward since.
  bool is_replaced(SlotIndex slot) const;
  /// It takes so much in the journal beside its payload from now on. One step.
  void set_overhead(Txn& txn, SlotIndex slot, uint64_t bytes);
  uint64_t overhead_of(SlotIndex slot) const { return overhead_bytes(entry(slot).overhead); }
  /// Frees the slots of so many outcomes, the oldest ones; returns of how many. Two steps each.
  uint32_t forget_outcomes(Txn& txn, uint32_t most);
  /// What `from`, the same queue, remembers and has counted. Never where others see the region; needs room.
  void take_memory(Txn& txn, const Schedule& from);
  void set_event(Txn& txn, SlotIndex slot, uint64_t event_position);
  /// It was changed, and no record tells: until its end a rebuild may make something else of it.
  void note_unwritten(Txn& txn, SlotIndex slot);
  /// Nothing of a dead message can be delivered: its key, its waits and its time to start are forgotten. At
  /// most kWaitsMax steps.
  void lose(Txn& txn, SlotIndex slot);
  /// All that is known of it is told by one record now, which takes so much beside the payload.
  void set_item(Txn& txn, SlotIndex slot, uint64_t item_position, uint64_t overhead);
  void set_holder(Txn& txn, SlotIndex slot, HolderIndex holder);

  /// The first lease that this process holds, or none.
  std::optional<SlotIndex> first_held(HolderIndex holder) const;
  std::optional<SlotIndex> next_held(SlotIndex slot) const;

  // ---- waiting -----------------------------------------------------------------------------------

  /// Whether a kick of this message is to hold it: something that it came after is unfinished.
  bool would_hold(SlotIndex slot) const;
  /// A dependency that has ended, where somebody may have waited for it.
  std::optional<uint32_t> first_ended() const;
  struct Decision {
    SlotIndex slot;
    bool bury = false;   // else it is let go
    uint32_t waits = 0;  // that it had
  };
  /// Who of those that waited for it is to be let go or buried now; none: nobody more. That one waits for it
  /// no more, so what was decided has to be done in the same transaction. At most 32 steps.
  std::optional<Decision> decide(Txn& txn, uint32_t dependency);
  uint64_t dependency_id(uint32_t dependency) const { return region_.dependency(dependency).id; }
  /// Held no longer: ready, or delayed until it is due. At most 12 steps and one for each of its waits.
  void let_go(Txn& txn, SlotIndex slot, int64_t now_ms);
  /// A message that is not known has ended.
  void note_ended(Txn& txn, MessageId id);
  /// After a rebuild: what ended before is looked at again. Without bound: never where others see the region.
  void note_all_ended();
  /// The ids that a held message still waits for, or a dead one did. At most kWaitsMax.
  uint32_t waits_of(SlotIndex slot, std::span<uint64_t> ids) const;

  // ---- keys --------------------------------------------------------------------------------------

  UniqueKeys keys() const { return UniqueKeys(region_); }
  /// The key that a message has, held or not.
  const UniqueKey* key_of_message(SlotIndex slot) const;

  // ---- time --------------------------------------------------------------------------------------

  /// When the next timer is due; kNever without one. Long ago while nodes are behind the queue's terms.
  int64_t next_timer_ms() const;
  /// Fires due timers, after nodes that are behind the queue's terms were looked at: delayed messages become
  /// ready, those with a TTL dead, leases whose time is over come back (an attempt and a crash), idle tenants
  /// are forgotten, those that are blocked until a time are free. As many as fit 32 steps; returns how many,
  /// 0 when none is due.
  uint32_t fire(Txn& txn, int64_t now_ms);
  /// Replay only, after a reboot: rewrites all times from the old boot's clock to the new one's, where
  /// `shift_ms` is the old offset of wall time minus the new one. A timer t becomes t + shift_ms (the same
  /// wall time), but never before new_now_ms and never further away than it was at old_now_ms:
  /// clamp(t + shift_ms, new_now_ms, new_now_ms + max(0, t - old_now_ms)). What is no timer (ready since,
  /// dead since) is shifted only. Walks all, without a transaction: never on a region that others see.
  void shift_timers(int64_t old_now_ms, int64_t new_now_ms, int64_t shift_ms);

  // ---- tenants -----------------------------------------------------------------------------------

  /// The node of this path, with all below it; none when nobody pushed there (or it was forgotten).
  std::optional<TenantIndex> find_tenant(std::string_view path) const;
  std::string path_of(TenantIndex tenant) const;
  /// The same without allocating: for what runs under a lock.
  std::string_view path_copy(TenantIndex tenant, std::span<char, kTextBytesMax> into) const;
  const Tenant& tenant(TenantIndex tenant) const;
  bool is_below(TenantIndex tenant, TenantIndex ancestor) const;
  /// The next node with a queue of its own (empty or not) at or after `from` in index order.
  std::optional<TenantIndex> next_leaf(TenantIndex from) const;
  /// True when it or a node above it is parked or lacks room in a pool: its messages have no turns now.
  bool is_blocked(TenantIndex tenant) const;
  /// Why it is: each thing that stands in the way. Allocates.
  std::vector<Blocker> blockers_of(TenantIndex tenant) const;
  /// The message that its next turn gives, parked or not; none when it has none or is an inner node.
  std::optional<SlotIndex> first_ready(TenantIndex leaf) const;

  // ---- policy ------------------------------------------------------------------------------------

  /// Changes what was set at run time for the node of this path ("" is the whole queue), made where it is
  /// missing. At most 24 steps. Needs: fits(need_of_setting(path, patch)).
  void set(Txn& txn, std::string_view path, const NodePatch& patch, int64_t now_ms);
  static Need need_of_setting(std::string_view path, const NodePatch& patch);
  /// What was set at run time, of nodes from `from` on and before `end`, in index order; none: there is
  /// nothing more.
  struct Setting {
    TenantIndex node;
    std::string path;
    PolicyValues values;  // `limited` as boot time
  };
  std::optional<Setting> next_setting(TenantIndex from, uint32_t end) const;
  std::optional<Setting> setting_of(TenantIndex node) const;

  /// The tenant entries of a policy file, added one by one and then made to hold in one store; the others are
  /// removed behind that. Each returns whether there is more to do.
  uint32_t rules_end() const;  // behind the last rule or pool
  void sum_up_rules(uint32_t from, uint32_t to, RuleSummary& summary) const;
  /// A generation that nothing has. Needs: the summary of all.
  uint32_t new_rules(const RuleSummary& summary) const;
  /// Needs: fits(need_of_rule(pattern, patch)).
  void add_rule(Txn& txn, uint32_t generation, uint32_t rank, std::string_view pattern,
                const NodePatch& values);
  static Need need_of_rule(std::string_view pattern, const NodePatch& values);
  /// Its pools likewise. Needs: fits(need_of_pool(name)).
  void add_pool(Txn& txn, uint32_t generation, std::string_view name, const NodePatch& values);
  static Need need_of_pool(std::string_view name);
  /// 0: none. Needs: the summary of all, these among them.
  void make_rules_hold(Txn& txn, uint32_t generation, const RuleSummary& summary);
  /// Some pools from `from` on are as the file says; returns where to go on, or none at the end. Before
  /// nodes.
  std::optional<uint32_t> bring_pools_up_to_date(Txn& txn, uint32_t from, int64_t now_ms);
  /// Some nodes from `from` on get what holds for them now; returns where to go on, or none at the end.
  std::optional<TenantIndex> bring_up_to_date(Txn& txn, TenantIndex from, int64_t now_ms);
  /// Likewise removes rules that do not hold.
  std::optional<uint32_t> remove_old_rules(Txn& txn, uint32_t from);
  std::optional<uint32_t> remove_old_pools(Txn& txn, uint32_t from);

  /// What the queue says of all its turns. One step; the nodes follow as fire() comes to them.
  void set_terms(Txn& txn, const Terms& terms) { store_terms(txn, region_.root, terms); }

  /// What a node and all below it hold that counts (dead ones do not), and what they may.
  struct Holding {
    uint64_t messages = 0, bytes = 0;
    uint64_t messages_max = UINT64_MAX, bytes_max = UINT64_MAX;
  };
  /// Also of a node that is not there yet.
  Holding holding_of(std::string_view path) const;
  /// Whether any node may hold only so much.
  bool is_capped() const { return region_.root.capped.peek() != 0; }

  // ---- looking -----------------------------------------------------------------------------------

  /// Those that have been dead the longest, as many as `slots` takes; returns how many that are.
  size_t oldest_dead(std::span<SlotIndex> slots) const;
  /// The next used slot at or after `from`. Without bound: where others wait for the lock, a part of the
  /// slots before slots_end() is looked at instead.
  std::optional<SlotIndex> next_slot(SlotIndex from) const;
  /// Behind the last slot, and the last node, that was ever used.
  uint32_t slots_end() const {
    return std::min<uint32_t>(region_.root.entry_supply.high_water, region_.root.entries.capacity);
  }
  uint32_t nodes_end() const {
    return std::min<uint32_t>(region_.root.tenant_supply.high_water, region_.root.tenants.capacity);
  }
  struct OutcomeView {
    RecordType verdict;
    uint64_t event_position;
    int64_t at_wall_ms;
    uint32_t attempts;
  };
  std::optional<OutcomeView> outcome(MessageId id) const;
  /// Nothing is ready or leased, and nothing is on its way back after a retry or release. What is paused,
  /// with all below it, is left out of what is ready.
  /// False: it is not idle. True: it is where ready_beside_paused() is paused_ready() of all settings.
  bool may_be_idle() const;
  /// All that is ready, or none where the whole queue is paused.
  uint64_t ready_beside_paused() const;
  /// Ready below what is paused, as far as the settings [from, to) say; each counts once.
  uint64_t paused_ready(uint32_t from, uint32_t to) const;
  uint32_t controls_end() const { return region_.root.control_supply.high_water; }
  /// Counts since the queue was made. A rebuild sets them from the journal's snapshot: restore() counts
  /// nothing itself.
  Counts counts() const;
  void set_counts(Txn& txn, const Counts& counts);
  const ScheduleRoot& root() const { return region_.root; }
  const Region& region() const { return region_; }

 private:
  void follow_terms(Txn& txn, int64_t now_ms);
  void start(Txn& txn, const Message& message, const LeaseTerms& terms);
  void hold_again(Txn& txn, Extra& extra);
  void add_waits(Txn& txn, SlotIndex slot, Bytes after, bool linked);
  void expire(Txn& txn, SlotIndex slot);
  struct Turn;
  Turn next_turn(TenantIndex from) const;
  bool find_below(Turn& turn) const;
  Region region_;
};

/// The order in which messages would be served from now on, without changing anything: a private
/// simulation of the rings. Allocates; bounded by what is asked of it.
class Preview {
 public:
  Preview(const Schedule& schedule, TenantIndex from);
  ~Preview();
  std::optional<SlotIndex> next();
  /// What gave the last one its place.
  enum class By { turn, rank, age };
  By by() const { return by_; }

 private:
  struct Node;
  std::optional<SlotIndex> next_ranked();

  const Schedule& schedule_;
  std::unique_ptr<Node> root_;
  std::unique_ptr<RankedPreview> ranked_;  // instead
  uint64_t stamps_ = 0;
  uint32_t turn_count_ = 0;
  By by_ = By::turn;
};

/// Everything that must hold inside one schedule; each breach is a line. Walks all: for check and tests.
std::vector<std::string> schedule_faults(const Schedule& schedule);
/// Where two schedules differ in what a rebuild must give again: messages, states, attempts, order within
/// tenants, due times. Timers may differ by `slack_ms`. What `live` has changed in memory only is held to
/// what the journal can know of it.
CountedLines schedule_differences(const Schedule& live, const Schedule& rebuilt, int64_t slack_ms);

}  // namespace fq
