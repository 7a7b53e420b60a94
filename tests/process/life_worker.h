// life_worker - one process of a crowded life: it does most of what there is, at random, until it has done
// enough or is killed. (Moves and schedules make messages that the ledger does not know: tests/local/life.h.)
#pragma once

// System.
#include <cstdio>
#include <random>
// Tests.
#include "tests/process/life_ledger.h"

namespace fq::test {

inline constexpr uint64_t kLifeTenants = 60;
inline constexpr uint64_t kLifeKeyHoldMs = 3'600'000;
inline constexpr uint64_t kLifeImports = 2'000;

class LifeWorker {
 public:
  LifeWorker(Queue& queue, Ledger& ledger, uint64_t seed) : queue_(queue), ledger_(ledger), random_(seed) {}

  void work(int operations) {
    for (int i = 0; i < operations; ++i) {
      step();
      ++ledger_.operations;
    }
  }

  /// Serves and cancels all there is; returns how many messages have ended, or nothing if one could not be.
  static std::optional<uint64_t> drain(Queue& queue) {
    uint64_t ended = 0;
    for (;;) {
      const auto leased = queue.lease({.want = 64});
      if (!leased.ok()) return told_of("drain: lease", leased.error());
      std::vector<Settle> acks;
      for (const Delivery& each : leased->deliveries) acks.push_back({.receipt = each.receipt});
      if (acks.empty()) break;
      const auto settled = queue.settle(acks);
      if (!settled.ok()) return told_of("drain: ack", settled.error());
      if (settled->error) return told_of("drain: ack", *settled->error);
      ended += acks.size();
    }
    Cursor from;
    do {
      const auto cancelled = queue.mutate(Filter{}, Action::cancel, from, 1'000);
      if (!cancelled.ok()) return told_of("drain: cancel", cancelled.error());
      ended += cancelled->changed;
      from = cancelled->next;
    } while (!from.text.empty());
    return ended;
  }

  /// Takes back what workers set at run time.
  static bool unset_all(Queue& queue) {
    if (!queue.policy_set("", {{}, {PolicyKey::max_messages}}).ok()) return false;
    const PolicyPatch patch{
        {}, {PolicyKey::max_messages, PolicyKey::concurrency, PolicyKey::limited, PolicyKey::weight}};
    for (uint64_t i = 0; i < kLifeTenants; ++i) {
      if (!queue.policy_set(tenant_of(i), patch).ok()) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kLivelyMax = 3'000;  // more than that are not pushed to
  static constexpr int64_t kLeaseMs = 300;
  static constexpr uint64_t kOftenKeys = 500;  // of all; they meet themselves

  uint64_t below(uint64_t n) { return random_() % n; }
  static std::string tenant_of(uint64_t n) { return "t" + std::to_string(n % 7) + "/" + std::to_string(n); }

  static std::nullopt_t told_of(const char* what, const Error& error) {
    std::fprintf(stderr, "life: %s: %s\n", what, error.text.c_str());
    return std::nullopt;
  }
  /// Nothing but pushes, kicks and settings may be refused.
  template <class Value>
  bool did(const char* what, const Result<Value>& result) {
    if (result.ok()) return true;
    ++ledger_.failed;
    told_of(what, result.error());
    return false;
  }
  template <class Value>
  bool was_accepted(const char* what, const Result<Value>& result) {
    if (result.ok()) return true;
    if (result.error().kind != ErrorKind::later) return did(what, result);
    ++ledger_.refused;
    return false;
  }

  void step() {
    const uint64_t dice = below(1'000);
    if (dice < 380) return push();
    if (dice < 390) return import();
    if (dice < 400) return edit();
    if (dice < 880) return serve();
    // What is kicked may have to be written as a push is.
    if (dice < 905)
      return static_cast<void>(
          was_accepted("kick", queue_.mutate(Filter{.state = State::dead}, Action::kick, {}, 50)));
    if (dice < 915)
      return static_cast<void>(
          was_accepted("kick", queue_.mutate(Filter{.state = State::delayed}, Action::kick, {}, 5)));
    if (dice < 945) return cancel();
    if (dice < 965) return set();
    if (dice < 985) return look();
    // A full disk may keep these from their work.
    if (dice < 996) return static_cast<void>(was_accepted("maintain", queue_.maintain(1)));
    if (dice < 998) return static_cast<void>(was_accepted("compact", queue_.compact()));
    check();
  }

  void push() {
    const auto stats = queue_.stats({});
    if (!did("stats", stats) || stats->rows.empty()) return;
    const StatsRow& row = stats->rows[0];
    if (row.ready + row.delayed + row.leased + row.dead + row.held > kLivelyMax) return;
    const bool is_large = below(60) == 0;
    const size_t messages = is_large || below(3) != 0 ? 1 : 1 + below(40);
    const uint64_t first = ledger_.numbers.fetch_add(messages);
    texts_.clear();
    texts_.reserve(messages * 5);
    std::vector<NewMessage> batch(messages);
    for (size_t i = 0; i < messages; ++i) {
      const size_t bytes = is_large ? 66'000 + below(60'000) : 30 + below(below(10) == 0 ? 20'000 : 800);
      describe(batch[i], first + i, bytes, messages == 1);
    }
    const bool is_lazy = below(4) == 0;
    const auto pushed = queue_.push(batch, {.durability = is_lazy ? Durability::lazy : Durability::always});
    // What it was to come after may have ended, and be known no more.
    if (!pushed.ok() && contains(pushed.error().text, "nothing can come after it")) return;
    if (!was_accepted("push", pushed)) return;
    if (pushed->error) ++ledger_.refused;
    for (size_t i = 0; i < pushed->items.size(); ++i) {
      if (pushed->items[i].status != PushStatus::accepted) continue;
      last_id_ = number(pushed->items[i].id);
      // Lazy ones may be taken by a reboot, before a quiet moment made them durable.
      if (!pushed->error && !is_lazy) ledger_.is_accepted(first + i);
    }
  }

  static std::string payload_of(uint64_t number, size_t bytes) {
    std::string payload = std::to_string(number) + "." + std::to_string(bytes) + ".";
    payload.resize(std::max(bytes, payload.size()), 'p');
    return payload;
  }

  /// Of another queue's messages; one that came before is not taken in again.
  void import() {
    ExportedMessage message;
    const uint64_t number = ledger_.numbers.fetch_add(1);
    message.id = MessageId{1 + below(kLifeImports)};
    message.tenant = tenant_of(below(kLifeTenants));
    message.payload = payload_of(number, 30 + below(800));
    message.since_wall_ms = message.pushed_at_wall_ms = system_clock().wall_ms();
    const auto reply = queue_.import_messages({&message, 1}, "elsewhere");
    if (!was_accepted("import", reply)) return;
    if (reply->error) return static_cast<void>(was_accepted("import", Result<void>(*reply->error)));
    if (reply->items[0].what == ImportResult::What::imported) ledger_.is_accepted(number);
  }

  /// A message keeps its number.
  void edit() {
    const auto page = queue_.peek({.tenant = tenant_of(below(kLifeTenants))}, {}, 1);
    if (!did("peek", page) || page->messages.empty() || !page->messages[0].payload) return;
    const uint64_t number = std::strtoull(page->messages[0].payload->c_str(), nullptr, 10);
    const std::string payload = payload_of(number, 30 + below(below(10) == 0 ? 20'000 : 800));
    MessagePatch patch;
    patch.payload = as_bytes(payload);
    patch.priority = static_cast<int32_t>(below(4)) - 1;
    was_accepted("edit", queue_.edit(page->messages[0].id, patch));
  }

  /// What its job does once: some bytes that are kept with it, and a message of its own.
  void step_of(const Receipt& receipt) {
    Steps& steps = *queue_.steps();
    was_accepted("step", steps.keep(receipt, "r", as_bytes(payload_of(0, below(100)))));
    const uint64_t number = ledger_.numbers.fetch_add(1);
    const std::string payload = payload_of(number, 30 + below(800));
    const std::string tenant = tenant_of(below(kLifeTenants));
    const auto pushed =
        steps.push(receipt, "p" + std::to_string(number), {.tenant = tenant, .payload = as_bytes(payload)});
    if (was_accepted("step", pushed) && pushed->receipt == SettleStatus::ok) ledger_.is_accepted(number);
  }

  std::string_view text(std::string of) { return texts_.emplace_back(std::move(of)); }

  void describe(NewMessage& it, uint64_t number, size_t bytes, bool is_alone) {
    it.payload = as_bytes(text(payload_of(number, bytes)));
    it.tenant = text(tenant_of(below(kLifeTenants)));
    it.priority = static_cast<int32_t>(below(4)) - 1;
    if (below(4) == 0) it.key = text("key " + std::to_string(below(100)));
    if (below(10) == 0) it.tags = {{"colour", std::string(below(60), 'c')}};
    if (below(10) == 0)
      it.command = JobCommand{.argv = {"true"}, .cwd = "/", .env = {"A=" + std::string(below(900), 'e')}};
    if (below(20) == 0) it.ttl_ms = static_cast<int64_t>(1 + below(3'000));
    if (below(20) == 0) it.keep_ms = static_cast<int64_t>(below(5'000));
    if (below(20) == 0) it.attempts_max = static_cast<uint32_t>(1 + below(3));
    const uint64_t dice = below(100);
    if (dice < 10) it.delay_ms = static_cast<int64_t>(below(2'000));
    if (dice >= 10 && dice < 20) {
      // A key's tenant is always the same.
      const uint64_t key = below(below(3) == 0 ? kLifeKeys : kOftenKeys);
      ledger_.holds_key(key);
      it.tenant = text(tenant_of(key % kLifeTenants));
      it.unique = text("k" + std::to_string(key));
      it.unique_for_ms = below(4) == 0 ? kLifeKeyHoldMs : below(2) == 0 ? 2'000 : 100;
      // Whoever has such a key may be replaced, also if it came in a batch.
      ledger_.each[number].loose = key % 3 == 0;
      if (key % 3 == 0 && is_alone) it.unique_mode = below(2) == 0 ? UniqueMode::replace : UniqueMode::after;
    }
    if (dice >= 20 && dice < 25 && is_alone) {
      it.debounce = text("d" + std::to_string(below(500)));
      it.quiet_ms = 200;
      ledger_.each[number].loose = true;
    }
    if (dice >= 25 && dice < 30 && last_id_ != 0) it.after = {MessageId{last_id_}};
    if (dice >= 30 && dice < 33 && last_id_ != 0) it.after_any = {MessageId{last_id_}};
  }

  void serve() {
    const uint32_t before = ++ledger_.moments;
    const bool is_by_life = below(2) == 0;
    const bool is_grouped = below(6) == 0;
    const auto leased = queue_.lease({.want = 1 + below(30),
                                      .hold = is_by_life ? Hold::process : Hold::duration,
                                      .hold_ms = kLeaseMs,
                                      .tenant = below(8) == 0 ? "t3" : "",
                                      .grouped = is_grouped,
                                      .group_max = 1 + below(12)});
    if (!did("lease", leased)) return;
    std::vector<Settle> verdicts;
    std::vector<uint64_t> numbers;
    const std::string error(below(3) == 0 ? below(2'000) : 0, 'e');
    const JobOutput output{.out = std::string(below(700), 'o'), .err = "", .keep_ms = 3'000};
    for (const Delivery& each : leased->deliveries) {
      const auto payload = each.payload.read_all();
      if (!did("read", payload)) continue;
      const uint64_t its = std::strtoull(payload->c_str(), nullptr, 10);
      // Ended since, by somebody who got it when our lease was over: that is no second delivery.
      if (ledger_.each[its].told == Told::gone && ledger_.each[its].gone_at < before) ++ledger_.doubled;
      Settle& verdict = verdicts.emplace_back();
      verdict.receipt = each.receipt;
      const uint64_t dice = below(100);
      if (dice >= 80 && dice < 86)
        verdict.verdict = Verdict::retry, verdict.delay_ms = dice % 2 == 0 ? 0 : 100;
      if (dice >= 86 && dice < 96) verdict.verdict = Verdict::release;
      if (dice >= 96 && dice < 98) verdict.verdict = Verdict::bury;
      if (verdict.verdict == Verdict::retry || verdict.verdict == Verdict::bury) verdict.stderr_tail = error;
      if (dice < 4) verdict.output = &output;
      if (below(50) == 0) step_of(each.receipt);
      if (dice == 98) did("extend", queue_.extend(std::span(&each.receipt, 1), 2 * kLeaseMs));
      if (verdict.verdict == Verdict::ack) ledger_.may_go(its);
      numbers.push_back(its);
    }
    settle(verdicts, numbers);
  }

  void settle(const std::vector<Settle>& verdicts, const std::vector<uint64_t>& numbers) {
    const auto settled = queue_.settle(verdicts);
    if (!did("settle", settled)) return;
    if (settled->error) did("settle", Result<void>(*settled->error));
    for (size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i].verdict == Verdict::ack && settled->items[i] == SettleStatus::ok)
        ledger_.is_gone(numbers[i]);
    }
  }

  /// Some of a tenant's messages, in whatever state they are.
  void cancel() {
    const auto page = queue_.peek({.tenant = tenant_of(below(kLifeTenants))}, {}, 1 + below(4));
    if (!did("peek", page)) return;
    std::vector<MessageId> ids;
    for (const MessageInfo& each : page->messages) {
      if (!each.payload) continue;
      ledger_.may_go(std::strtoull(each.payload->c_str(), nullptr, 10));
      ids.push_back(each.id);
    }
    did("cancel", queue_.mutate(ids, Action::cancel));
  }

  void set() {
    const bool is_queue = below(10) == 0;
    const auto some = [&](uint64_t least, uint64_t more) {
      return static_cast<int64_t>(least + below(more));
    };
    PolicyPatch patch;
    const uint64_t dice = below(is_queue ? 2 : 6);
    if (dice == 0) patch.unset = {PolicyKey::max_messages};
    if (dice == 1)
      patch.set = {{PolicyKey::max_messages, is_queue ? some(2'000, 2'000) : some(20, 100), 0, {}}};
    if (dice == 2) patch.set = {{PolicyKey::concurrency, some(1, 20), 0, {}}};
    if (dice == 3) patch = limited_for(some(1, 100));
    if (dice == 4) patch = limited_no_more();
    if (dice == 5) patch.set = {{PolicyKey::weight, some(500, 5'000), 0, {}}};
    was_accepted("set", queue_.policy_set(is_queue ? "" : tenant_of(below(kLifeTenants)), patch));
  }

  void look() {
    switch (below(6)) {
      case 0:
        return static_cast<void>(did("stats", queue_.stats({.tenants = true})));
      case 1:
        return static_cast<void>(did("explain", queue_.explain({})));
      case 2:
        return static_cast<void>(did("ended", queue_.ended({}, {}, 20)));
      case 3:
        return static_cast<void>(did("history", queue_.history(MessageId{last_id_ + 1}, {}, 20)));
      case 4:
        return static_cast<void>(did("output", queue_.output(MessageId{last_id_ + 1})));
      default: {
        EventPage page;
        did("events", queue_.events({.last = 100}, page));
      }
    }
  }

  void check() {
    const auto report = queue_.check();
    if (!was_accepted("check", report)) return;
    if (report->findings.empty()) return;
    ++ledger_.alarms;
    for (const std::string& line : report->findings.lines) {
      std::fprintf(stderr, "life: check: %s\n", line.c_str());
      const size_t named = line.find("message ");
      if (named != std::string::npos) tell(std::strtoull(line.c_str() + named + 8, nullptr, 10));
    }
  }

  /// What became of it: no other run has the same history.
  void tell(uint64_t id) {
    const Result<HistoryPage> page = queue_.history(MessageId{id}, {}, 100);
    if (!page) return static_cast<void>(std::fprintf(stderr, "life: %s\n", page.error().text.c_str()));
    for (const HistoryEvent& each : page->events)
      std::fprintf(stderr, "life:   %lld %s\n", static_cast<long long>(each.at_wall_ms),
                   std::string(each.event).c_str());
  }

  Queue& queue_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  std::vector<std::string> texts_;  // of the batch that is pushed
  uint64_t last_id_ = 0;
};

}  // namespace fq::test
