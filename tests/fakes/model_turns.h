// model_turns - whose turn it is, and who may start nothing now: the model's tenants.
//
// A map of nodes by path; "a/b/" stands for a/b's own messages, a sibling of "a/b/c". Written for reading and
// not for speed, and apart from the engine.
#pragma once

// System.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/explanation.h"
#include "core/base/clock.h"
#include "core/base/policy.h"

namespace fq::test {

inline constexpr uint64_t kOneTurn = 2'520'000'000;

class ModelTurns {
 public:
  /// A start: what it costs, and what of that is an expected run, in ticks of 10 us; of the nodes below
  /// `top`.
  struct Start {
    uint64_t cost = 0;
    uint64_t ticks = 0;
    std::string top;
  };

  /// Of the leaf "tenant/": a message of so many bytes became ready.
  void ready(const std::string& leaf, uint64_t bytes, int64_t now_ms);
  /// It is ready no more.
  void unready(const std::string& leaf, int64_t now_ms);
  /// The leaf's next message has its turn: its nodes below `top` are charged.
  /// `more`: it has that turn beside another one, as one of a group.
  Start charge(const std::string& leaf, std::string_view top, uint64_t bytes, bool more = false);
  /// How groups gather from now on; 0: they do not.
  void set_groups(int64_t linger_ms, uint64_t batch_max) { linger_ms_ = linger_ms, batch_max_ = batch_max; }
  /// What the leaf has, of which the oldest has been ready since then, gathers from that on.
  void gather(const std::string& leaf, int64_t since_ms, int64_t now_ms);
  /// It waits until its messages have gathered, and so since then; none: it does not.
  std::optional<int64_t> gathers_since(const std::string& leaf) const;
  /// It has run.
  void ran(const std::string& leaf, const Start& start, uint64_t ticks, int64_t now_ms);
  /// And starts: its limits are used up.
  void started(const std::string& leaf, int64_t now_ms);
  void ended(const std::string& leaf);

  void set(const std::string& path, const PolicyPatch& patch, int64_t now_ms);
  void set_fair_by(FairBy fair_by);
  /// The pools that there are from now on.
  void set_pools(const std::vector<PoolRule>& pools, int64_t now_ms);
  /// Frees what was blocked until this time.
  void fire(int64_t now_ms);
  /// When fire() has something to do; kNever without.
  int64_t next_timer_ms() const;

  /// The node below this one whose turn it is, or "".
  std::string first_below(std::string_view path) const;
  /// The first message of leaf `x` goes before that of leaf `y`; of equals neither does.
  using Before = std::function<bool(const std::string& x, const std::string& y)>;
  /// From now on turns go by what `next` is told of messages; `ages`: one in sixteen goes by age.
  void set_ranked(bool ranked, bool ages);
  /// The leaf whose turn it is at `path` and below, or "".
  std::string next(std::string_view path, const Before& before) const;
  /// Pools of a node's path that there are.
  std::set<std::string> pools_of(std::string_view path) const;
  /// It or a node above it starts nothing now.
  bool is_blocked(std::string_view path) const;
  /// It or a node above it is paused.
  bool is_paused(std::string path) const;
  /// Each thing that makes it so.
  void add_reasons(const std::string& path, int64_t now_ms, int64_t wall_minus_boot_ms,
                   std::vector<Reason>& reasons) const;
  /// The part of the turns of the leaf `path` while those that have something now go on having it.
  double share_of(std::string path) const;
  FairBy fair_by() const { return fair_by_; }

 private:
  /// How many at once, and how often.
  struct Limit {
    size_t concurrency = SIZE_MAX;
    int64_t rate_count = 0, rate_span_ms = 0, burst = 1;
    int64_t credit_ns = 0, credit_at_ms = 0;  // what its bucket held then
  };
  struct Node : Limit {
    uint64_t weight_milli = 1000;
    uint64_t tag = 0, sequence = 0;  // its place among its siblings
    uint64_t vtime = 0, joins = 0;   // of those below it
    uint64_t expected_ticks = 0;     // of its tag: of what has started and not ended
    uint64_t refund = 0;             // of what its tag lies behind the clock: of what was taken back
    size_t count = 0;                // seats below it, or ready messages
    bool seated = false;
    bool blocked = false;
    bool paused = false;
    bool gathers = false;
    int64_t since_ms = 0;  // that it does so
    int64_t limited_until_ms = 0;
    size_t running = 0;
    uint64_t run_ticks = 0;  // of a leaf: its moving average
    int64_t idle_since_ms = 0;
    std::string pool;
    bool stamped = false;
    uint64_t stamp = 0;  // when it had its last turn by age
    uint64_t turns = 0;  // that it was asked for, since the last one by age
  };

  using Entry = std::pair<const std::string, Node>;
  static std::string parent_of(std::string_view path);
  /// They stand together, for their paths begin with their parent's.
  std::vector<const Entry*> children_of(std::string_view path) const;
  Node& at(const std::string& path);
  static int64_t interval_ns(const Limit& limit);
  static int64_t depth_ns(const Limit& limit);
  static void fill(Limit& limit, int64_t now_ms);
  static void take_token(Limit& limit, int64_t now_ms);
  static void change_rate(Limit& limit, const Limit& before, int64_t now_ms);
  static int64_t token_at_ms(const Limit& limit);
  static void put(Limit& limit, PolicyKey key, const PolicyValue* value);
  bool has_room(const std::string& pool) const;
  bool is_in_full_pool(std::string_view path) const;
  /// It sits in its ring, with something below it that no pool keeps back.
  bool counts_in_ring(const std::string& path) const;
  void add_pool_reasons(const std::string& name, int64_t now_ms, int64_t wall_minus_boot_ms,
                        std::vector<Reason>& reasons) const;
  /// As far as it and what is below it say: something of it can be served.
  bool can_be_served(const std::string& path) const;
  /// Of those that this path is asked for.
  bool is_turn_by_age(std::string_view path) const;
  void stamp(Node& node) { node.stamped = true, node.stamp = stamps_++; }
  /// Of those below it that can be served the leaf that goes first, or "".
  std::string best_leaf(const std::string& path, const Before& before) const;
  uint64_t usual_ticks() const;
  static uint64_t turn_of(const Node& node, uint64_t ticks);
  uint64_t begin_of_turn(const Node& node, const Node& parent) const;
  static void let_stand(Node& node, uint64_t ahead);
  static void note_refund(Node& node, const Node& parent, uint64_t begin);
  void note_idle(const std::string& leaf, size_t running, int64_t now_ms);
  Start start_of(const Node& leaf, uint64_t bytes) const;
  uint64_t newcomer_tag(const Node& node, const Node& parent, uint64_t cost, int64_t now_ms) const;
  struct Arrival {
    uint64_t cost = 0;
    int64_t now_ms = 0;
    bool group = false;  // that has gathered
  };
  void settle(std::string path, const Arrival* arrival = nullptr);
  uint64_t usual_cost(Node& leaf, uint64_t cost, int64_t now_ms) const;
  bool has_gathered(const Node& node, int64_t now_ms) const;
  void look_again(const std::string& path, int64_t now_ms);

  std::map<std::string, Node, std::less<>> nodes_;
  std::map<std::string, Limit> pools_;
  FairBy fair_by_ = FairBy::turns;
  bool ranked_ = false, ages_ = false;
  uint64_t stamps_ = 0;     // given out
  uint64_t usual_run_ = 0;  // moving average of the logarithms of all runs
  int64_t now_ms_ = 0;
  int64_t linger_ms_ = 0;
  uint64_t batch_max_ = UINT64_MAX;
};

}  // namespace fq::test
