// explainer - says why a message is served when it is, or why it waits.
//
// The walk that keeps it from being served tells what blocks it (core/schedule/rings/blockers.h), the preview
// that peek shows tells its place. Only where that is far, its place is worked out: by looking at all
// messages and tenants, a part of them under each hold of the lock. Between two parts everything may change,
// even the segment be replaced: only an id or a name is remembered, and is looked for anew. The findings are
// copied into room that was made before (NodeSnapshot), and made into texts and lists behind the lock.
#pragma once

// System.
#include <algorithm>
#include <array>
#include <utility>
// fq, below us.
#include "core/schedule/look/rivals.h"
#include "core/schedule/look/starts.h"
// fq, this room.
#include "core/local/consume/reaper.h"
#include "core/local/read/parts.h"

namespace fq {

class Explainer : private Linked {
 public:
  Explainer(Link& link, Reaper& reaper) : Linked(link), reaper_(reaper) {}

  Result<std::optional<Explanation>> of_message(MessageId id);
  Result<std::optional<Explanation>> of_tenant(const std::string& path);
  Result<std::vector<Explanation>> next(const std::string& path, size_t n);
  /// Tenants below this one with something ready that cannot be served.
  Result<void> add_blocked(const std::string& path, ExplainReply& reply);

 private:
  static constexpr size_t kReasonsMax = 7 * (kDepthMax + 1);  // each kind at each level

  /// A node or a pool whose slots are all taken, and some of what runs there.
  struct Full {
    std::string name;
    bool is_pool = false;
    std::vector<MessageId> running;
    uint32_t index = kNoIndex;  // in the part that is looked at; kNoIndex: gone, or nothing more is wanted
  };
  /// A name as it was under the lock.
  struct NameSnapshot {
    std::array<char, kTextBytesMax> bytes;
    size_t size = 0;

    void filled(std::string_view in_bytes) { size = in_bytes.size(); }
    std::string_view text() const { return {bytes.data(), size}; }
  };
  struct ReasonSnapshot {
    Blocker blocker;
    std::optional<int64_t> until_wall_ms;
    NameSnapshot name;
  };
  /// A tenant with what keeps it.
  struct NodeSnapshot {
    NameSnapshot tenant;
    std::array<uint64_t, 5> counts{};  // ready, delayed, leased, held, dead
    std::vector<ReasonSnapshot> reasons = std::vector<ReasonSnapshot>(kReasonsMax);
    size_t reason_count = 0;
  };
  struct NextSnapshot {
    MessageId id{};
    ServedBy by{};
    bool limited = false;
    NameSnapshot tenant;
  };

  // explainer.cpp: under one hold of the lock, where only the preview, Starts and in_order allocate
  void see(TenantIndex node, bool with_reasons, NodeSnapshot& seen);
  template <class Visit>
  std::optional<uint64_t> in_order(TenantIndex from, size_t most, Starts& starts, Visit&& visit);
  void find_place(SlotIndex slot, Explanation& found);
  void see_if_blocked(TenantIndex leaf, TenantIndex top, std::span<NodeSnapshot> room, uint64_t& blocked);
  // and behind it
  void tell(const NodeSnapshot& seen, Explanation& found);
  static void emit_counts(const NodeSnapshot& seen, Explanation& found);
  void emit_state(const Snapshot& snapshot, std::span<const uint64_t> waits, Explanation& found);

  // explainer_looks.cpp: in parts
  /// Whether it is held by what is held by it.
  Result<void> find_cycle(Explanation& found);
  /// Those of its tenant that go before it.
  Result<void> count_ahead(Explanation& found);
  /// Some of those that hold the slots of what is full. Needs: full_ has them in the order of the reasons.
  Result<void> find_running(std::span<Explanation> explanations);
  void look_for_running(uint32_t from, uint32_t to);
  /// From its tenant up: the turns that each other gets between two of its own, and of a message how many
  /// turns there are before its own.
  Result<void> scan_rivals(Explanation& found);
  std::optional<Rivals> rivals_of(std::string_view path, bool own, uint64_t turns);

  static bool is_full(const Reason& reason) {
    return reason.kind == Reason::Kind::concurrency || reason.kind == Reason::Kind::pool_concurrency;
  }

  /// Calls `look(from, to)` for all indices before `end()`, see Parts.
  template <class End, class Look>
  Result<void> in_parts(End&& end, Look&& look) {
    Parts parts(link_);
    for (bool more = true; more;) {
      FQ_TRY_SET(more, parts.next(end, look));
    }
    return {};
  }

  Reaper& reaper_;
  bool counts_turns_ = false;  // each message costs one of its tenant's turns
  bool among_own_ = false;     // it was pushed to the path of an inner node itself
  uint64_t starts_left_ = 0;   // how many of its tenant could start now
  uint64_t shared_left_ = 0;   // as far as what it shares with others says
  /// How many start before it although their turns come behind it; none: nobody knows.
  std::optional<uint64_t> overtaking_;
  std::vector<Full> full_;
};

}  // namespace fq
