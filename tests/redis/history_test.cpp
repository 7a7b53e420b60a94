// history_test - random operations on a queue on a server and on the model, compared after each.
//
// Of many shards each account is as in the model, whatever the others do; between accounts turns are not
// exact. On a cluster shards go to other servers in between. FQ_SEED=n runs one history again,
// FQ_HISTORIES=n more of them.
#include "tests/redis/moving_shard.h"
#include "tests/redis/on_cluster.h"
#include "tests/redis/tenant_keys.h"

// System.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <set>
// Tests.
#include "tests/api/history_view.h"
#include "tests/api/random_patch.h"
#include "tests/fakes/model.h"
#include "tests/knobs.h"

namespace fq::test {

namespace {

constexpr size_t kSteps = 100;
constexpr int64_t kForgottenMs = 70'000;         // what a tenant has used up is paid by then, too
constexpr int64_t kGraceMs = 15'000;             // that leases have where another server has their shard
constexpr uint64_t kNobody = uint64_t{1} << 52;  // an id that no message gets

class ServerHistory {
 public:
  /// `spool`: without options.
  ServerHistory(const std::string& spool, const Keys& keys, uint64_t seed, uint32_t shards)
      : random_(seed),
        prefix_("h" + std::to_string(seed)),
        keys_(keys),
        location_{spool + "?prefix=" + prefix_, "default"},
        shards_(shards) {
    answered(told_time_engine().create(location_, {.shards = shards}));
    clock_.set_boot_ms(clock_.boot_ms() / 10 * 10 + 5);  // due times end in 0: none is due exactly now
    queue_ = open_on(told_time_engine(), location_.spool, &clock_);
    Settings settings;
    settings.order = static_cast<Order>(below(3));
    settings.attempts_max = 3;
    costly_ = below(2) == 0;
    // What is usual of runs is another in each shard.
    if (costly_) settings.fair_by = static_cast<FairBy>(below(shards_ == 1 ? 3 : 2));
    if (below(2) == 0) settings.batch_max = 1 + below(4);
    // Now ends in 5 and due times in 0, so windows end in 9.
    if (below(3) == 0) settings.linger_ms = static_cast<int64_t>(below(100)) * 10 + 9;
    gathers_ = settings.linger_ms > 0;
    model_.load(settings);
    std::vector<PoolRule> pools = {{"p", {{PolicyKey::concurrency, 2, 0, {}}}},
                                   {"q", {{PolicyKey::concurrency, 1, 0, {}}}}};
    if (costly_ || shards_ > 1) pools.clear();  // what a late start by time costs is another story
    model_.set_pools(pools);
    REQUIRE(queue_->policy_load({values_of(settings), {}, pools}, {.inode = 1}).ok());
    if (below(2) == 0) set_room();
  }
  ~ServerHistory() { static_cast<void>(told_time_engine().remove(location_)); }

  /// From now on its shards go from one server to another, now and then.
  void move_shards_on(TestCluster& cluster) {
    cluster_ = &cluster;
    tags_ = tags_on(cluster, prefix_);
    hasty_.emplace(location_, clock_, random_);
    model_.patient_until_ms = [this](MessageId id) { return patient_until_ms_[shard_of(id_of_.at(id))]; };
  }
  std::string run() {
    for (size_t i = 0; i < kSteps && fault_.empty(); ++i) {
      step();
      compare();
      if (gathers_) clock_.advance(10);  // no two windows begin at one time
    }
    if (fault_.empty()) leave();
    return fault_;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  template <class T>
  void equal(const T& mine, const T& models, const std::string& what) {
    if (mine == models || !fault_.empty()) return;
    fault_ = what;
    if constexpr (std::is_same_v<T, std::string>) fault_ += ": '" + mine + "', model '" + models + "'";
    fault_ += " after " + log_;
  }

  /// So many messages may be in the queue: of this the model knows nothing.
  void set_room() {
    room_ = 4 + below(12);
    log_ += "room " + std::to_string(*room_) + "\n";
    const PolicyValue most{PolicyKey::max_messages, static_cast<int64_t>(*room_), 0, {}};
    REQUIRE(queue_->policy_set("", {{most}, {}}).ok());
  }
  size_t unfinished() {
    model_.fire_timers();
    return static_cast<size_t>(std::count_if(ids_.begin(), ids_.end(), [&](MessageId id) {
      const State state = model_.find(id)->info.state;
      return state == State::ready || state == State::delayed || state == State::leased ||
             state == State::held;
    }));
  }
  /// What is refused is more than there is room for, and as much as there is room for is taken: of a batch
  /// with keys nobody says before how much that is.
  std::optional<PushReply> put(const std::vector<NewMessage>& batch, size_t before) {
    Result<PushReply> reply = queue_->push(batch);
    if (!room_) return answered(std::move(reply));
    if (reply && !reply->error) return std::move(reply).value();
    equal(before + batch.size() > *room_, true, "refused with room for it");
    equal((reply ? *reply->error : reply.error()).text.find("(max_messages)") != std::string::npos, true,
          "refused for its room");
    log_ += "full\n";
    return std::nullopt;
  }

  /// A span that ends at a time at which no other timer ends.
  int64_t fresh_span_ms(int64_t most) {
    for (;; most += 100) {
      const auto steps = static_cast<int64_t>(below(static_cast<uint64_t>(most) / 10)) + 1;
      const int64_t due_ms = (clock_.boot_ms() / 10 + steps) * 10;
      if (dues_.insert(due_ms).second) return due_ms - clock_.boot_ms();
    }
  }

  std::string tenant() {
    static const char* const tenants[] = {"c", "a/x", "a/y", "b/z/1", "b/z/2", "default", "a", "b"};
    // Where turns cost otherwise, no account has messages of its own: how far they are ahead when the first
    // one below it comes is not promised.
    return tenants[below(std::size(tenants) - (costly_ ? 2 : 0))];
  }

  void step() {
    switch (below(cluster_ == nullptr ? 10 : 11)) {
      case 0:
      case 1:
      case 2:
        return push();
      case 3:
      case 4:
        return lease(1 + below(5));
      case 5:
      case 6:
        return settle();
      case 7:
        return mutate();
      case 8:
        if (room_ && below(4) == 0) return set_room();
        return below(2) == 0 ? set() : edit();
      case 9:
        log_ += "advance\n";
        // Some leave long enough for a tenant that has nothing to be forgotten.
        return clock_.advance(below(8) == 0 ? kForgottenMs : static_cast<int64_t>(below(100)) * 10);
      default:
        move_shard();
    }
  }

  /// What is asked of it meanwhile is refused, and not done, as the model will tell.
  void move_shard() {
    if (ids_.empty()) return;
    const MessageId id = ids_[below(ids_.size())], there = id_of_.at(id);
    const std::string account = account_of(model_.find(id)->info.tenant);
    log_ += "move the shard of " + std::to_string(number(id)) + "\n";
    MovingShard moving(*cluster_, tags_.at(shard_of(there)), random_);
    for (uint64_t parts = below(3); parts > 0; --parts) {
      moving.move_some();
      equal(hasty_->done(account, there, held_with(taken_, there)), std::string(),
            "done while its shard moves");
    }
    moving.finish();
    // From the next call on, which finds another server, no lease of it is over for a while.
    const MessageId nobody{kNobody + shard_of(there)};
    equal(answered(queue_->mutate({&nobody, 1}, Action::kick)).changed, uint64_t{0}, "changed");
    patient_until_ms_[shard_of(there)] = clock_.boot_ms() + kGraceMs;
  }
  void push() {
    std::vector<NewMessage> batch(1 + below(4));
    std::vector<std::string> texts;
    texts.reserve(4 * batch.size());
    const std::string one = tenant();
    for (NewMessage& message : batch) {
      message.tenant = texts.emplace_back(gathers_ || (room_ && shards_ > 1) ? one : tenant());
      message.payload = as_bytes(texts.emplace_back("m" + std::to_string(++pushed_)));
      if (model_.settings.order == Order::priority) message.priority = static_cast<int32_t>(below(5)) - 2;
      const bool keyed = model_.settings.order == Order::key && below(4) != 0;
      // A key that is the beginning of another, and one with the byte that is escaped.
      static const std::string keys[] = {"k", std::string("k\0", 2), std::string("k\0\xff", 3), "ka", "\xff"};
      if (keyed) message.key = keys[below(std::size(keys))];
      if (below(3) == 0) set_key(message, texts.emplace_back(1, static_cast<char>('k' + below(3))));
      const bool is_debounced = !message.debounce.empty();
      while (!gathers_ && !is_debounced && !ids_.empty() && below(3) == 0) {
        auto& after = below(2) == 0 ? message.after : message.after_any;
        const MessageId id = ids_[below(ids_.size())];
        const bool is_ours = account_of(model_.find(id)->info.tenant) == account_of(message.tenant);
        if (shards_ == 1 || is_ours) after.push_back(id);
      }
      if (!is_debounced && below(4) == 0) message.delay_ms = fresh_span_ms(2'000);
      if (!is_debounced && below(5) == 0)
        message.ttl_ms = fresh_span_ms(3'000) - message.delay_ms.value_or(0);
      if (message.ttl_ms && *message.ttl_ms <= 0) message.ttl_ms.reset();
      if (below(4) == 0) message.attempts_max = 1 + static_cast<uint32_t>(below(3));
      log_ += "push " + std::string(as_text(message.payload)) + " " + std::string(message.tenant) + "\n";
    }
    std::vector<NewMessage> theirs = batch;
    for (NewMessage& message : theirs) {
      for (auto* const after : {&message.after, &message.after_any}) {
        for (MessageId& id : *after) id = id_of_.at(id);
      }
    }
    const size_t before = unfinished();
    const std::optional<PushReply> said = put(theirs, before);
    if (!said) return;
    const PushReply& reply = *said;
    for (size_t i = 0; i < batch.size(); ++i) {
      const PushResult models = model_.put(batch[i]);
      const MessageId id = id_of_.try_emplace(models.id, reply.items.at(i).id).first->second;
      equal(number(reply.items[i].id), number(id), "id");
      if (shards_ == 1) equal(number(id), number(models.id), "id");
      equal(static_cast<int>(reply.items[i].status), static_cast<int>(models.status), "pushed");
      if (models.status == PushStatus::accepted) ids_.push_back(models.id);
    }
    model_.settle_held();
    const size_t after = unfinished();
    equal(!room_ || after <= before || after <= *room_, true, "has more than there is room for");
  }

  void set_key(NewMessage& message, std::string_view key) {
    if (below(2) == 0) {
      message.debounce = key;
      message.quiet_ms = fresh_span_ms(2'000);
      return;
    }
    message.unique = key;
    message.unique_for_ms = static_cast<int64_t>(below(4)) * 500;
    message.unique_mode = static_cast<UniqueMode>(below(3));
  }

  void lease(size_t want) {
    static const char* const filters[] = {"", "", "a", "b", "b/z", "c", "nobody"};
    LeaseRequest request = for_a_minute(want);
    request.hold_ms = fresh_span_ms(3'000);
    // Over shards only what is of one account is exact.
    request.tenant = filters[below(std::size(filters) - (shards_ > 1 ? 2 : 0)) + (shards_ > 1 ? 2 : 0)];
    request.want = below(2) == 0 ? 1 : want;
    // Else they would tie, or come back at one time, and two windows would begin then.
    if (request.want > 1 || gathers_) request.hold = Hold::process;
    if (below(4) == 0) request.bytes_max = 2 + below(10);
    request.grouped = request.want > 1 && below(2) == 0;
    if (request.grouped && below(2) == 0) request.group_max = 1 + below(4);
    log_ += "lease " + std::to_string(request.want) + " '" + std::string(request.tenant) + "'\n";
    const LeaseReply mine = answered(queue_->lease(request));
    const std::vector<Delivery> models = model_.lease(request);
    equal(mine.deliveries.size(), models.size(), "leased");
    for (size_t i = 0; i < models.size() && fault_.empty(); ++i) {
      const Delivery& one = mine.deliveries[i];
      equal(std::string(one.payload.bytes()), std::string(models[i].payload.bytes()), "served");
      equal(one.attempt, models[i].attempt, "attempt");
      equal(one.attempts_max, models[i].attempts_max, "attempts_max");
      equal(one.delivery, models[i].delivery, "delivery");
      equal(one.crashes, models[i].crashes, "crashes");
      taken_.push_back({one.receipt, models[i].receipt});
    }
  }

  void settle() {
    if (taken_.empty()) return;
    const auto [mine, models] = taken_[below(taken_.size())];  // also receipts that are stale by now
    if (below(6) == 0) {
      const int64_t ms = fresh_span_ms(3'000);
      log_ += "extend " + models.text() + "\n";
      const SettleStatus status = answered(queue_->extend({&mine, 1}, ms)).at(0).status;
      return equal(status_name(status), status_name(model_.extend(models, ms).status), "extended");
    }
    Settle item;
    item.verdict = static_cast<Verdict>(below(4));
    const bool can_delay = item.verdict == Verdict::retry || item.verdict == Verdict::release;
    if (can_delay && below(2) == 0) item.delay_ms = fresh_span_ms(2'000);
    if (below(3) == 0) item.run_us = below(1'500'000);
    item.receipt = models;
    const SettleStatus expected = model_.settle(item);
    item.receipt = mine;
    log_ += "settle " + models.text() + " " + std::to_string(static_cast<int>(item.verdict)) + "\n";
    equal(status_name(answered(queue_->settle({&item, 1})).items.at(0)), status_name(expected), "settled");
  }

  void mutate() {
    if (ids_.empty()) return;
    const MessageId id = ids_[below(ids_.size())];
    const Action action = below(2) == 0 ? Action::cancel : Action::kick;
    log_ += (action == Action::kick ? "kick " : "cancel ") + std::to_string(number(id)) + "\n";
    const uint64_t expected = model_.mutate(id, action) == SettleStatus::ok ? 1 : 0;
    model_.settle_held();
    equal(answered(queue_->mutate({&id_of_.at(id), 1}, action)).changed, expected, "changed");
  }

  /// Something is set for a tenant, or taken back.
  void set() {
    const std::string path = below(4) == 0 ? "b/z" : tenant();
    const PolicyValue values[] = {{PolicyKey::weight, 100 + static_cast<int64_t>(below(5'000)), 0, {}},
                                  {PolicyKey::paused, 1, 0, {}},
                                  {PolicyKey::concurrency, 1 + static_cast<int64_t>(below(3)), 0, {}},
                                  {PolicyKey::limited, fresh_span_ms(2'000), 0, {}},
                                  {PolicyKey::pool, 0, 0, below(2) == 0 ? "p" : "q"}};
    const PolicyValue& value = values[below(std::size(values) - (shards_ > 1 ? 1 : 0))];
    const PolicyPatch patch = below(3) == 0 ? PolicyPatch{{}, {value.key}} : PolicyPatch{{value}, {}};
    log_ += (patch.set.empty() ? "unset " : "set ") + path + " key " +
            std::to_string(static_cast<int>(value.key)) + " to " + std::to_string(value.number) + "\n";
    model_.set(path, patch);
    REQUIRE(queue_->policy_set(path, patch).ok());
  }

  void edit() {
    if (ids_.empty()) return;
    const MessageId id = ids_[below(ids_.size())];
    model_.fire_timers();
    const auto span = [this](int64_t most) { return fresh_span_ms(most); };
    const RandomPatch drawn(*model_.find(id), model_.settings.order, !gathers_, {random_, clock_, span});
    log_ += "edit " + std::to_string(number(id)) + drawn.text() + "\n";
    equal(status_name(answered(queue_->edit(id_of_.at(id), drawn.patch()))),
          status_name(model_.edit(id, drawn.patch())), "edited");
  }

  void leave() {
    equal(fault_of_check(*queue_), std::string(), "check");
    leave_nothing(*queue_, id_of_, {"a", "a/x", "a/y", "b", "b/z", "b/z/1", "b/z/2", "c", "default"});
    forget_idle(*queue_, clock_, {"a", "b", "c", "default"});
    equal(of_tenants(keys_(prefix_)), std::string(), "left of nobody");
  }

  void compare() {
    if (!fault_.empty()) return;
    model_.fire_timers();
    for (const std::string top : {"", "a", "b", "c", "default"}) {
      if (top.empty() == (shards_ > 1)) continue;
      std::string expected;
      for (const MessageId id : model_.ready(top)) expected += *model_.find(id)->info.payload + " ";
      equal(ready_order(*queue_, top), expected, "peek '" + top + "'");
    }
    equal(counts_of(*queue_), counts_of(model_), "sums");
    if (ids_.empty()) return;
    const MessageId id = ids_[below(ids_.size())];
    equal(state_of(*queue_, id_of_.at(id)), std::string(name_of(model_.find(id)->info.state)), "state");
  }

  std::mt19937_64 random_;
  FakeClock clock_;
  std::string prefix_;
  Keys keys_;
  Location location_;
  uint32_t shards_;
  TestCluster* cluster_ = nullptr;
  std::vector<std::string> tags_;                 // of its shards
  std::map<uint64_t, int64_t> patient_until_ms_;  // by shard
  std::optional<Hasty> hasty_;
  std::map<MessageId, MessageId> id_of_;  // by the model's
  std::unique_ptr<Queue> queue_;
  Model model_{clock_};
  std::optional<size_t> room_;  // messages; over shards a batch is of one account then
  bool gathers_ = false;
  bool costly_ = false;  // turns may cost bytes or time
  size_t pushed_ = 0;
  std::vector<MessageId> ids_;
  std::vector<std::pair<Receipt, Receipt>> taken_;
  std::set<int64_t> dues_;
  std::string log_, fault_;
};

/// On a cluster its shards move.
template <class Servers>
void run_histories(Servers& on, uint32_t shards, TestCluster* cluster = nullptr) {
  const uint64_t one = number_of("FQ_SEED", 0);
  const uint64_t first = one != 0 ? one : std::random_device{}() | 1U;
  const uint64_t count = number_of("FQ_HISTORIES", one != 0 ? 1 : 5);
  std::printf("histories: FQ_SEED=%ju, %ju histories, %u shards\n", uintmax_t{first}, uintmax_t{count}, shards);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    ServerHistory history(
        on.spool(), [&](const std::string& prefix) { return all_keys(on, prefix); }, seed, shards);
    if (cluster != nullptr) history.move_shards_on(*cluster);
    const std::string fault = history.run();
    if (!fault.empty()) FAIL("FQ_SEED=" << seed << ", shards " << shards << "\n" << fault);
  }
}

}  // namespace

TEST_CASE("random histories on a server end as in the model, and over shards as of each account") {
  const TestServer server;
  const uint32_t shards = GENERATE(1U, 16U);
  run_histories(server, shards);
}

TEST_CASE("random histories end as in the model of each account, wherever its shard goes", "[moves]") {
  TestCluster cluster(3);
  run_histories(cluster, 16, &cluster);
}

}  // namespace fq::test
