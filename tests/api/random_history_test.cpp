// random_history_test - random operations on an engine and on the model, compared after each.
//
// A history is a seed: it picks an order, then some dozens of pushes, imports, leases, verdicts, cancels,
// kicks, edits and steps of time; half of them go on in another queue, which all is moved to by an export.
// Ids and receipts are the engines' own, so they are paired by when they were given. Timers never tie
// (engines may fire equal ones in any order) and none is due exactly now, but for a bucket's tokens, which
// are there then. FQ_SEED=n runs one history again, FQ_HISTORIES=n more, from that seed if given.
#include "tests/api/contract.h"

// System.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
// Tests.
#include "tests/api/emigration.h"
#include "tests/api/history_view.h"
#include "tests/api/random_batch.h"
#include "tests/api/random_import.h"
#include "tests/api/random_value.h"
#include "tests/knobs.h"

namespace fq::test {

namespace {

constexpr size_t kSteps = 80;

class History {
 public:
  /// `make` makes an engine that has no queue yet.
  History(std::function<std::unique_ptr<Engine>()> make, uint64_t seed)
      : random_(seed), make_(std::move(make)) {
    on_a_five(clock_);
    open();
    order_ = static_cast<Order>(below(3));
    Settings settings;
    settings.order = order_;
    settings.sync = SyncMode::lazy;  // durability is proved elsewhere; here speed buys histories
    settings.attempts_max = 3;
    costly_ = below(2) == 0;
    if (below(3) == 0) settings.scope = Scope::queue;
    if (costly_) settings.fair_by = static_cast<FairBy>(below(3));
    // Now ends in 5 and due times in 0, so windows end in 9 and 4.
    if (below(3) == 0) settings.linger_ms = static_cast<int64_t>(below(100)) * 10 + 9;
    gathers_ = settings.linger_ms > 0;
    if (below(2) == 0) settings.batch_max = 1 + below(4);
    loaded_ = settings;
    identity_.inode = seed + 1;
    ruled_ = std::vector{"c", "a/x", "b/z", "a", "b/z/1"}[below(5)];
    begin();
  }

  void run(size_t steps) {
    // Which tenant's window is the first is told by the order of arrival, which is another there.
    const bool emigrates = below(2) == 0 && !gathers_ && engine_->caps().exports;
    for (size_t i = 0; i < steps && same_; ++i) {
      step();
      if (emigrates && i == steps / 2) emigrate();
      compare();
      if (i % 16 == 15) check();
      if (gathers_) clock_.advance(10);  // no two windows begin at one time
    }
    if (!same_) return;
    clock_.advance(10'000'000);
    while (same_ && lease() != 0) settle(), compare();
    compare();
    check();
  }

  bool same() const { return same_; }
  const std::string& log() const { return log_; }

 private:
  void open() {
    engines_.push_back(make_());
    engine_ = engines_.back()->open(clock_);
    model_ = std::make_unique<Model>(clock_);
    model_steps_ = std::make_unique<ModelSteps>(*model_, unshared_);
  }
  void begin() {
    model_->load(loaded_);
    load_policy();
  }
  /// All of it goes on in another queue.
  void emigrate() {
    log_ += "all go to another queue\n";
    const std::unique_ptr<Queue> engine = std::move(engine_);
    const std::unique_ptr<Model> model = std::move(model_);
    model_steps_.reset();
    open();
    begin();
    Emigration emigration({*engine, *model}, {*engine_, *model_}, ids_);
    differ(emigration.run());
    ids_ = emigration.ids();
    imports_ = {};
    taken_.clear();
  }

  /// Due times end in 0, now ends in 5. Before it is opened: a queue notes how far the wall clock is off.
  static void on_a_five(FakeClock& clock) { clock.set_boot_ms(clock.boot_ms() / 10 * 10 + 5); }
  uint64_t below(uint64_t n) { return random_() % n; }

  void differ(const std::string& what) {
    if (what.empty()) return;
    same_ = false;
    log_ += "  != " + what + "\n";
  }
  template <class T>
  bool equal(const T& engine, const T& model, const std::string& what) {
    if (engine == model) return true;
    if constexpr (std::is_same_v<T, std::string>) {
      differ(what + ": engine '" + engine + "', model '" + model + "'");
    } else {
      differ(what + ": engine " + std::to_string(engine) + ", model " + std::to_string(model));
    }
    return false;
  }

  RandomPatch::Draw draw() {
    return {random_, clock_, [this](int64_t most) { return fresh_span_ms(most); }};
  }
  /// A span that ends at a time at which no other timer ends.
  int64_t fresh_span_ms(int64_t most) {
    for (;;) {
      const auto steps = static_cast<int64_t>(below(static_cast<uint64_t>(most) / 10)) + 1;
      const int64_t due_ms = (clock_.boot_ms() / 10 + steps) * 10;
      if (dues_.insert(due_ms).second) return due_ms - clock_.boot_ms();
      most += 100;
    }
  }

  void check() { differ(fault_of_check(*engine_)); }

  void step() {
    switch (below(18)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return push();
      case 4:
      case 5:
        lease(true);
        return;
      case 6:
        return lease_many();
      case 7:
      case 8:
        return settle();
      case 9:
        return mutate(Action::cancel);
      case 10:
        return mutate(below(2) == 0 || engine_->steps() == nullptr ? Action::kick : Action::kick_fresh);
      case 11:
        return set();
      case 12:
        return edit();
      case 13:
      case 14:
        return do_step();
      case 15:
        return check();
      case 16:
        return import();
      default: {
        const auto ms = static_cast<int64_t>(below(100)) * 10;
        log_ += "advance " + std::to_string(ms) + "\n";
        clock_.advance(ms);
      }
    }
  }

  void push() {
    const RandomPatch::Draw draw = this->draw();
    const RandomBatch batch(draw, {order_, costly_, gathers_}, ids_, pushed_);
    log_ += batch.text();
    const Result<PushReply> engine = engine_->push(batch.messages());
    if (!engine.ok()) return differ("push: " + engine.error().text);
    for (size_t i = 0; i < batch.messages().size(); ++i) {
      const PushResult model = model_->put(batch.of_model(i));
      const PushResult mine = engine->items.at(i);
      if (!equal(static_cast<int>(mine.status), static_cast<int>(model.status), "push")) return;
      if (model.status == PushStatus::accepted) ids_.push_back({mine.id, model.id});
      const bool known = std::find(ids_.begin(), ids_.end(), std::pair(mine.id, model.id)) != ids_.end();
      if (!known) return differ("push: another id than " + std::to_string(number(model.id)));
    }
    model_->settle_held();
  }

  void import() {
    differ(imports_.one({draw(), order_, pushed_++, !gathers_}, *engine_, *model_, ids_, log_));
  }

  size_t lease(bool narrow = false) {
    static const char* const filters[] = {"", "", "a", "b", "b/z", "c", "nobody"};
    LeaseRequest request = timed_lease(1, fresh_span_ms(3'000));
    // Leases that are found to be over at one time come back at that time, and two windows would begin then.
    if (gathers_) request.hold = Hold::process;
    if (narrow) request.tenant = filters[below(std::size(filters))];
    const Result<LeaseReply> engine = engine_->lease(request);
    const std::vector<Delivery> model = model_->lease(request);
    log_ += "lease '" + std::string(request.tenant) + "' for " + std::to_string(*request.hold_ms) + "\n";
    if (!engine.ok()) return differ("lease: " + engine.error().text), size_t{0};
    if (!equal(engine->deliveries.size(), model.size(), "leased")) return 0;
    if (model.empty()) return 0;
    compare_delivery(engine->deliveries[0], model[0]);
    return 1;
  }

  /// Several in one call are held by the process, since leases of one time would tie.
  void lease_many() {
    LeaseRequest request;
    request.want = 2 + below(4);
    request.bytes_max = 4 + below(20);
    request.grouped = below(2) == 0;
    if (request.grouped && below(2) == 0) request.group_max = 1 + below(4);
    const Result<LeaseReply> engine = engine_->lease(request);
    const std::vector<Delivery> model = model_->lease(request);
    log_ += "lease " + std::to_string(request.want) + " of " + std::to_string(request.bytes_max) + " bytes" +
            (request.grouped ? " in groups of " + std::to_string(request.group_max) : "") + "\n";
    if (!engine.ok()) return differ("lease: " + engine.error().text);
    if (!equal(engine->deliveries.size(), model.size(), "leased")) return;
    for (size_t i = 0; i < model.size(); ++i) {
      compare_delivery(engine->deliveries[i], model[i]);
    }
  }

  void compare_delivery(const Delivery& mine, const Delivery& other) {
    log_ += "  took " + payload_of(other) + " as " + other.receipt.text() + "\n";
    equal(payload_of(mine), payload_of(other), "served");
    equal(mine.attempt, other.attempt, "attempt");
    equal(mine.attempts_max, other.attempts_max, "attempts_max");
    equal(mine.delivery, other.delivery, "delivery");
    equal(mine.crashes, other.crashes, "crashes");
    taken_.push_back({mine.receipt, other.receipt});
  }

  void settle() {
    if (taken_.empty()) return;
    const Taken taken = taken_[below(taken_.size())];  // also receipts that are stale by now
    if (below(6) == 0) return extend(taken);
    Settle item;
    item.verdict = static_cast<Verdict>(below(4));
    const bool can_delay = item.verdict == Verdict::retry || item.verdict == Verdict::release;
    if (can_delay && below(2) == 0) item.delay_ms = fresh_span_ms(2'000);
    if (below(3) == 0) item.run_us = below(1'500'000);
    item.receipt = taken.model;
    const SettleStatus model = model_->settle(item);
    item.receipt = taken.engine;
    const Result<SettleReply> engine = engine_->settle({&item, 1});
    log_ += "settle " + taken.model.text() + " verdict " + std::to_string(static_cast<int>(item.verdict)) +
            " delay " + std::to_string(item.delay_ms) + "\n";
    if (!engine.ok()) return differ("settle: " + engine.error().text);
    equal(status_name(engine->items.at(0)), status_name(model), "settled");
  }

  void do_step() {
    if (taken_.empty() || engine_->steps() == nullptr) return;
    const Taken taken = taken_[below(taken_.size())];
    RandomStep step(draw(), ids_, !gathers_);
    log_ += "step of " + taken.model.text() + ": " + step.text() + "\n";
    if (!equal(step.on(*engine_, taken.engine), step.on(*model_, *model_steps_, taken.model), "step")) return;
    const IdPair& child = step.child();
    if (number(child.first) == 0 || std::find(ids_.begin(), ids_.end(), child) != ids_.end()) return;
    if (number(child.second) != model_->messages.size()) return differ("a step has pushed another message");
    ids_.push_back(child);
  }

  void extend(const Taken& taken) {
    const int64_t ms = fresh_span_ms(3'000);
    log_ += "extend " + taken.model.text() + " by " + std::to_string(ms) + "\n";
    const Result<std::vector<ExtendResult>> engine = engine_->extend({&taken.engine, 1}, ms);
    const ExtendResult model = model_->extend(taken.model, ms);
    if (!engine.ok()) return differ("extend: " + engine.error().text);
    equal(status_name(engine->at(0).status), status_name(model.status), "extended");
  }

  void mutate(Action action) {
    if (ids_.empty()) return;
    const auto& [engine_id, model_id] = ids_[below(ids_.size())];
    log_ +=
        std::string(action == Action::cancel ? "cancel " : "kick ") + std::to_string(number(model_id)) + "\n";
    const Result<MutateReply> engine = engine_->mutate({&engine_id, 1}, action);
    const SettleStatus model = model_->mutate(model_id, action);
    model_->settle_held();
    if (!engine.ok()) return differ("mutate: " + engine.error().text);
    equal(engine->changed, uint64_t{model == SettleStatus::ok ? 1U : 0U}, "changed");
  }

  void edit() {
    if (ids_.empty()) return;
    const auto& [engine_id, model_id] = ids_[below(ids_.size())];
    model_->fire_timers();
    const RandomPatch drawn(*model_->find(model_id), order_, !gathers_, draw());
    log_ += "edit " + std::to_string(number(model_id)) + drawn.text() + "\n";
    const Result<SettleStatus> engine = engine_->edit(engine_id, drawn.patch());
    if (!engine.ok()) return differ("edit: " + engine.error().text);
    equal(status_name(*engine), status_name(model_->edit(model_id, drawn.patch())), "edited");
  }

  /// Another policy file: the same settings, other pools, other rules.
  void load_policy() {
    Policy policy{values_of(loaded_), {}, {}};
    draw_rules(policy, ruled_, [this](uint64_t n) { return below(n); });
    log_ += "policy with " + std::to_string(policy.pools.size()) + " pools and " +
            std::to_string(policy.tenants.size()) + " rules\n";
    ++identity_.size;
    model_->set_pools(policy.pools);
    model_->set_rules(policy.tenants);
    REQUIRE(engine_->policy_load(policy, identity_).ok());
  }

  /// Something is set for a tenant or the queue, or taken back.
  void set() {
    if (below(8) == 0) return load_policy();
    static const char* const tenants[] = {"", "a", "c", "a/x", "b/z", "new", "b"};
    const size_t which = below(std::size(tenants));
    const std::string tenant = tenants[which];
    const PolicyValue value = drawn_value(tenant, which, {costly_, gathers_}, draw());
    const bool unset = below(2) == 0;
    const PolicyPatch patch = unset ? PolicyPatch{{}, {value.key}} : PolicyPatch{{value}, {}};
    log_ += (unset ? "unset '" : "set '") + tenant + "' key " + std::to_string(static_cast<int>(value.key)) +
            " to " + std::to_string(value.number) + " " + std::to_string(value.second) + "\n";
    model_->set(tenant, patch);
    const Result<void> engine = engine_->policy_set(tenant, patch);
    if (!engine.ok()) differ("set: " + engine.error().text);
  }

  void compare() {
    if (!same_) return;
    model_->fire_timers();
    std::string expected;
    for (const MessageId id : model_->ready("")) expected += *model_->find(id)->info.payload + " ";
    equal(ready_order(*engine_), expected, "peek");
    equal(counts_of(*engine_), counts_of(*model_), "stats");
    equal(shares_of(*engine_), shares_of(*model_), "shares");
    if (ids_.empty()) return;
    const auto& [engine_id, model_id] = ids_[below(ids_.size())];
    equal(state_of(*engine_, engine_id), std::string(name_of(model_->find(model_id)->info.state)),
          "state of " + std::to_string(number(model_id)));
    equal(steps_of(*engine_, engine_id), steps_of(*model_->find(model_id)), "steps");
    equal(explained_by(*engine_, engine_id), said_of(model_->explain(model_id)),
          "explain " + std::to_string(number(model_id)));
    const std::string tenant = std::vector{"", "a", "b", "b/z", "c"}[pushed_ % 5];
    equal(next_of(*engine_, tenant, {ids_.begin(), ids_.end()}), next_of(*model_, tenant),
          "next of " + tenant);
  }

  std::mt19937_64 random_;
  FakeClock clock_;
  std::function<std::unique_ptr<Engine>()> make_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::unique_ptr<Queue> engine_;  // a queue of the last one
  std::unique_ptr<Model> model_;
  std::mutex unshared_;
  std::unique_ptr<ModelSteps> model_steps_;
  Settings loaded_;
  bool costly_ = false;  // turns may cost bytes or time
  std::string ruled_;    // the node that the policy file has rules for
  Order order_ = Order::priority;
  bool gathers_ = false;
  size_t pushed_ = 0;
  std::vector<IdPair> ids_;
  RandomImports imports_;
  std::vector<Taken> taken_;
  std::set<int64_t> dues_;
  FileIdentity identity_;
  std::string log_;
  bool same_ = true;
};

}  // namespace

TEST_CASE("random histories end as in the model") {
  const size_t engine = GENERATE(from_range(engines_of_this_test()));
  const std::string name = engine_name(engine);
  // Where they are not, each account is as in the model: tests/redis/history_test.cpp.
  if (!QueueFixture(engine).door().caps().exact_global_order) return;
  const uint64_t one = number_of("FQ_SEED", 0);
  const uint64_t first = one != 0 ? one : std::random_device{}() | 1U;
  uint64_t count = number_of("FQ_HISTORIES", one != 0 ? 1 : 200);
  // The model held against itself shows that the comparison is fair; that takes no long form.
  if (engine == 0) count = std::min<uint64_t>(count, 200);
  WARN("engine " << name << ": " << count << " histories, first seed " << first);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    History history([engine] { return make_engine(engine); }, seed);
    history.run(kSteps);
    if (history.same()) continue;
    FAIL("engine " << name << " FQ_SEED=" << seed << "\n" << history.log());
  }
  std::printf("histories: FQ_SEED=%llu, %llu histories, %zu operations each, engine %s\n",
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(count), kSteps,
              name.c_str());
}

}  // namespace fq::test
