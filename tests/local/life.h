// life - a queue's random life, and how many bytes of it live: what the journal may take is known to the
// test.
//
// What lives is what came into the queue and did not end: payloads and what was pushed with them, 128 bytes a
// message, what was said of its last failure, what its steps have come to, 40 a key that may be held, a
// record for each setting and schedule. On a disk that is full, what came into it by any way, edits, steps,
// kicks, settings and schedules may be refused, and nothing else.
#pragma once

// System.
#include <algorithm>
#include <random>
// Tests.
#include "tests/local/fixture.h"
#include "tests/local/live_bytes.h"
#include "tests/local/other_queue.h"

namespace fq::test {

inline constexpr uint64_t kMiB = 1024 * 1024;

/// What the journal may take at rest.
inline uint64_t bound(uint64_t live_bytes) { return 4 * live_bytes + 8 * kMiB; }

/// What is pushed lazily is served at once, and a life is long.
inline PushReply push_lazily(Queue& queue, std::span<const NewMessage> batch) {
  auto pushed = queue.push(batch, {.durability = Durability::lazy});
  INFO((pushed.ok() ? std::string() : pushed.error().text));
  REQUIRE(pushed.ok());
  return std::move(pushed).value();
}

/// A life of random operations, with what of it lives.
class Life {
 public:
  explicit Life(uint64_t seed, const std::string& base = SpoolFixture::usual_base())
      : q_(base), other_(q_), random_(seed) {
    q_.sync_lazily();
  }

  SpoolFixture& fixture() { return q_; }
  /// From now on there may be no room for what comes.
  void on_a_full_disk(bool is_full) { is_full_ = is_full; }
  uint64_t refused() const { return refused_; }
  /// From now on the queue holds tens of MB at times. Not for a small disk.
  void with_floods() { has_floods_ = true; }

  void live(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      INFO("step " << i << ": " << done_);
      REQUIRE(q_.journal_bytes() <= bound(live_.bytes() + key_bytes_ + setting_bytes_ + schedule_bytes_));
    }
  }

  /// All that can be served is served, the rest cancelled, one by one or many at once; pushes work again.
  void drain() {
    limit(false);
    while (schedule_bytes_ != 0 || !live_.empty() || know_all()) {
      remove_schedules();
      q_.clock.advance(100'000'000);
      settle();
      if (below(4) == 0) change(Action::cancel);
    }
    other_.end_all();
    const std::string text = "on it goes";
    const NewMessage message{.payload = as_bytes(text)};
    push_lazily(q_.door(), {&message, 1});
    CHECK(q_.drain() == text);
  }

  /// All that can be ended is ended.
  void end() {
    limit(false);
    remove_schedules();
    REQUIRE(schedule_bytes_ == 0);
    while (know_all()) {
      q_.clock.advance(100'000'000);
      REQUIRE(q_.door().mutate(live_.ids(), Action::cancel).ok());
      live_.clear();
    }
    other_.end_all();
    REQUIRE(q_.drain().empty());
    CHECK(q_.journal_bytes() <= 8 * kMiB + 4 * (setting_bytes_ + kImports * 40));
    q_.check_clean();
    q_.lose_segment();
    CHECK(q_.stats().ready == 0);
    q_.push("on it goes");
    CHECK(q_.drain() == "on it goes");
  }

 private:
  static constexpr uint64_t kImports = 500, kSchedules = 5;
  static constexpr uint64_t kScheduledBytesMax = 1'000;
  using Size = LiveBytes::Size;

  uint64_t below(uint64_t n) { return random_() % n; }
  size_t size() { return static_cast<size_t>(1) << below(17) >> (below(4) == 0 ? 0 : 1); }

  void step() {
    if (has_floods_ && below(500) == 0) return flood();
    switch (below(15)) {
      case 0:
      case 1:
      case 2:
        return push();
      case 3:
      case 4:
      case 5:
      case 6:
        return settle();
      case 7:
        return change(Action::cancel);
      case 8:
        return change(Action::kick);
      case 9:
        return below(2) == 0 ? set() : limit(below(3) != 0);
      case 10:
        return edit();
      case 11:
        return below(3) == 0 ? schedule() : import();
      case 12:
        return move();
      default:
        done_ = "time";
        q_.clock.advance(static_cast<int64_t>(below(20'000)));
    }
  }

  void push() {
    done_ = "push";
    std::vector<NewMessage> batch(1 + below(6));
    std::vector<std::string> payloads, tenants;
    const std::string unique = "k" + std::to_string(below(1'000));
    for (size_t i = 0; i < batch.size(); ++i) {
      payloads.push_back(std::string(std::min<size_t>(size(), 200'000 / batch.size()), 'p'));
    }
    for (size_t i = 0; i < batch.size(); ++i) tenants.push_back("t" + std::to_string(below(20)));
    for (size_t i = 0; i < batch.size(); ++i) {
      batch[i].tenant = tenants[i];
      batch[i].payload = as_bytes(payloads[i]);
      if (below(10) == 0) batch[i].delay_ms = static_cast<int64_t>(1 + below(1'000'000));
      if (below(20) == 0 && live_.last_id() != last_moved_) batch[i].after_any = {MessageId{live_.last_id()}};
      if (below(10) == 0)
        batch[i].command =
            JobCommand{.argv = {"true"}, .cwd = "/", .env = {"A=" + std::string(size() / 4, 'e')}};
    }
    if (below(4) == 0) {
      batch.resize(1);
      batch[0].unique = unique;
      batch[0].unique_for_ms = 3'600'000;
      if (below(3) == 0) batch[0].unique_mode = UniqueMode::replace;
      key_bytes_ = (1'000 + kImports) * 40;
    } else if (below(8) == 0) {
      batch.resize(1);
      batch[0].debounce = unique;
      batch[0].quiet_ms = 10'000;
      batch[0].delay_ms.reset();
      batch[0].after_any.clear();
    }
    const auto reply = q_.door().push(batch, {.durability = Durability::lazy});
    if (is_refused(reply)) return;
    INFO((reply.ok() ? std::string() : reply.error().text));
    REQUIRE(reply.ok());
    const PushReply& pushed = *reply;
    for (size_t i = 0; i < batch.size(); ++i) {
      const PushStatus status = pushed.items[i].status;
      if (!is_accepted(status) || status == PushStatus::duplicate) continue;
      const uint64_t command = batch[i].command ? batch[i].command->env[0].size() : 0;
      const uint64_t id = number(pushed.items[i].id);
      Size now = live_.size_of(id);
      now.payload = batch[i].payload.size();
      now.command = command;
      live_.put(id, now);
    }
  }

  void set() {
    done_ = "setting";
    const std::string tenant = "t" + std::to_string(below(50));
    const Result<void> set = q_.door().policy_set(
        tenant, {.set = {{PolicyKey::weight, static_cast<int64_t>(1'000 + below(9'000)), 0, {}}}});
    if (!is_refused(set)) REQUIRE(set.ok());
    setting_bytes_ = 50 * 128;
  }

  /// Another policy file: none of some tenants may have more than so many messages or bytes, and groups
  /// gather; or no such thing.
  void limit(bool is_limited) {
    done_ = "policy";
    Settings settings{.sync = SyncMode::lazy};
    if (is_limited) settings.linger_ms = static_cast<int64_t>(below(2) * 5'000);
    if (is_limited) settings.batch_max = 1 + below(20);
    Policy policy{values_of(settings), {}, {}};
    if (is_limited) {
      policy.tenants = {{"t1*", {{PolicyKey::max_messages, static_cast<int64_t>(1 + below(20)), 0, {}}}},
                        {"t*", {{PolicyKey::max_bytes, static_cast<int64_t>(below(500'000)), 0, {}}}}};
    }
    FileIdentity identity;
    identity.inode = ++files_loaded_;
    REQUIRE(q_.door().policy_load(policy, identity).ok());
  }

  /// Whose messages come while time passes: they are known when they are served.
  void schedule() {
    done_ = "schedule";
    const std::string name = "s" + std::to_string(below(kSchedules));
    const std::string payload(below(kScheduledBytesMax), 's');
    ScheduleDefinition one;
    one.name = name;
    one.spec = below(2) == 0 ? "every 1m" : "*/5 * * * *";
    one.message.tenant = "scheduled";
    one.message.payload = as_bytes(payload);
    const Result<void> set = q_.door().schedules()->set(one);
    if (!is_refused(set)) REQUIRE(set.ok());
    // With the last message of each, which is perhaps not known yet.
    schedule_bytes_ = kSchedules * (2 * kScheduledBytesMax + 512);
  }

  void remove_schedules() {
    done_ = "remove schedules";
    for (uint64_t i = 0; i < kSchedules; ++i) {
      const Result<bool> removed = q_.door().schedules()->remove("s" + std::to_string(i));
      if (is_refused(removed)) return;
      REQUIRE(removed.ok());
    }
    schedule_bytes_ = 0;
  }

  /// Of another queue's messages; one that came before is not taken in again.
  void import() {
    done_ = "import";
    ExportedMessage message;
    message.id = MessageId{1 + below(kImports)};
    message.tenant = "imported";
    message.payload = std::string(size(), 'i');
    message.pushed_at_wall_ms = message.since_wall_ms = q_.clock.wall_ms();
    const auto reply = q_.door().import_messages({&message, 1}, "elsewhere");
    key_bytes_ = (1'000 + kImports) * 40;
    if (is_refused(reply)) return;
    REQUIRE(reply.ok());
    if (reply->error) REQUIRE(is_refused(Result<void>(*reply->error)));
    if (reply->items.empty() || reply->items[0].what != ImportResult::What::imported) return;
    live_.put(number(reply->items[0].id), {.payload = message.payload.size()});
  }

  void move() {
    done_ = "move";
    if (live_.empty()) return;
    if (below(8) == 0) other_.end_all();
    const MessageId id = any();
    const auto reply = q_.door().move(std::span(&id, 1), {.to = "other", .tenant = {}});
    if (is_refused(reply)) return;
    REQUIRE(reply.ok());
    if (reply->error) REQUIRE(is_refused(Result<void>(*reply->error)));
    if (reply->items.empty() || reply->items[0].what != MoveResult::What::moved) return;
    other_.note_arrival(live_.size_of(number(id)).all());
    REQUIRE(other_.journal_bytes() <= bound(other_.live_bytes()));
    live_.take(number(id));
    if (number(id) == live_.last_id()) last_moved_ = number(id);  // nothing comes after it
  }

  /// So many small ones that their files are large.
  void flood() {
    done_ = "flood";
    const std::string payload(1'000 + below(4'000), 'f');
    const std::vector<NewMessage> batch(50, NewMessage{.tenant = "flood", .payload = as_bytes(payload)});
    for (uint64_t left = 20 + below(200); left > 0; --left) {
      for (const PushResult& each : push_lazily(q_.door(), batch).items)
        live_.put(number(each.id), {.payload = payload.size()});
    }
  }

  /// One of all that live; there must be some.
  MessageId any() { return MessageId{live_.near(below(live_.last_id() + 1))}; }

  void edit() {
    done_ = "edit";
    if (live_.empty()) return;
    const MessageId id = any();
    const std::string payload(size(), 'e');
    const auto edited = q_.door().edit(id, {.payload = as_bytes(payload)});
    if (is_refused(edited)) return;
    REQUIRE(edited.ok());
    if (*edited != SettleStatus::ok) return;
    Size now = live_.size_of(number(id));
    now.payload = payload.size();
    live_.put(number(id), now);
  }

  void settle() {
    done_ = "settle";
    const LeaseReply leased =
        q_.lease_from(q_.door(), {.want = 1 + below(has_floods_ && below(8) == 0 ? 1'000 : 8),
                                  .hold = Hold::duration,
                                  .hold_ms = 5'000,
                                  .grouped = below(6) == 0,
                                  .group_max = 1 + below(12)});
    std::vector<Settle> verdicts;
    const std::string text(below(4'000), 'e');
    for (const Delivery& each : leased.deliveries) {
      if (!live_.has(number(each.id))) live_.put(number(each.id), {.payload = each.payload.size()});
      if (below(20) == 0) step_of(each);
      if (below(20) == 0) REQUIRE(q_.door().extend(std::span(&each.receipt, 1), 10'000).ok());
      Settle& one = verdicts.emplace_back(Settle{.receipt = each.receipt});
      const uint64_t kind = below(12);
      if (kind == 9) one.verdict = Verdict::retry;
      if (kind == 10) one.verdict = Verdict::bury;
      if (kind == 11) one.verdict = Verdict::release;
      if (kind == 9 || kind == 10) one.stderr_tail = text;
    }
    const auto settled = q_.door().settle(verdicts);
    REQUIRE(settled.ok());
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const uint64_t id = number(leased.deliveries[i].id);
      if (settled->items[i] == SettleStatus::ok && verdicts[i].verdict == Verdict::ack) live_.take(id);
      // What was said of its last failure lives with it.
      if (verdicts[i].stderr_tail.empty() || !live_.has(id)) continue;
      Size now = live_.size_of(id);
      now.error = text.size();
      live_.put(id, now);
    }
  }

  /// Something that its job does once.
  void step_of(const Delivery& job) {
    Steps& steps = *q_.door().steps();
    Size now = live_.size_of(number(job.id));
    const std::string text(size() / 4, 'o');
    if (below(3) == 0) {
      const auto pushed = steps.push(job.receipt, "p", {.tenant = "t1", .payload = as_bytes(text)});
      if (is_refused(pushed)) return;
      REQUIRE(pushed.ok());
      // Once, however often the job is run.
      if (number(pushed->child) > live_.last_id()) live_.put(number(pushed->child), {.payload = text.size()});
      now.steps = std::max<uint64_t>(now.steps, 384);
    } else if (below(4) == 0) {
      const auto slept = steps.sleep(job.receipt, "z", static_cast<int64_t>(below(50'000)), 0);
      if (is_refused(slept)) return;
      REQUIRE(slept.ok());
      now.steps = std::max<uint64_t>(now.steps, 384);
    } else {
      const auto kept = steps.keep(job.receipt, "r", as_bytes(text));
      if (is_refused(kept)) return;
      REQUIRE(kept.ok());
      now.steps = text.size() + 384;
    }
    live_.put(number(job.id), now);
  }

  void change(Action action) {
    done_ = action == Action::cancel ? "cancel" : "kick";
    if (live_.empty()) return;
    const MessageId id = any();
    const auto changed = q_.door().mutate(std::span(&id, 1), action);
    // A kick has a push's room, and no more.
    if (action == Action::kick && is_refused(changed)) return;
    REQUIRE(changed.ok());
    if (action == Action::cancel && changed->changed == 1) live_.take(number(id));
  }

  template <class T>
  bool is_refused(const Result<T>& result) {
    if (result.ok() || result.error().kind != ErrorKind::later) return false;
    // By the policy file's limits.
    if (result.error().text.find("the limit is") != std::string::npos) return true;
    if (is_full_) ++refused_;
    return is_full_;
  }
  /// What schedules have made is known from now on, too. False: there is nothing.
  bool know_all() {
    Cursor from;
    do {
      const auto page = q_.door().peek(Filter{}, from, 1'000);
      REQUIRE(page.ok());
      for (const MessageInfo& each : page->messages) {
        if (!live_.has(number(each.id))) live_.put(number(each.id), {.payload = each.payload->size()});
      }
      from = page->next;
    } while (!from.text.empty());
    return !live_.empty();
  }

  SpoolFixture q_;
  OtherQueue other_;
  std::mt19937_64 random_;
  LiveBytes live_;
  uint64_t key_bytes_ = 0, setting_bytes_ = 0, schedule_bytes_ = 0;  // 0: there may be none
  uint64_t refused_ = 0, last_moved_ = 0, files_loaded_ = 0;
  bool is_full_ = false, has_floods_ = false;
  std::string done_;
};

}  // namespace fq::test
