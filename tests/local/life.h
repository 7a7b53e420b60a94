// life - a queue's random life, and how many bytes of it live: what the journal may take is known to the
// test.
//
// What lives is what was pushed and did not end: payloads and what was pushed with them, 128 bytes a message,
// what was said of its last failure, 40 a key that may be held, a record for each setting. On a disk that is
// full, pushes and settings may be refused, and nothing else.
#pragma once

// System.
#include <algorithm>
#include <map>
#include <random>
// Tests.
#include "tests/local/fixture.h"

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
      : q_(base), random_(seed) {
    q_.sync_lazily();
  }

  SpoolFixture& fixture() { return q_; }
  /// From now on pushes and settings may be refused for want of room.
  void on_a_full_disk(bool is_full) { is_full_ = is_full; }
  uint64_t refused() const { return refused_; }
  /// From now on the queue holds tens of MB at times. Not for a small disk.
  void with_floods() { has_floods_ = true; }

  void live(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      INFO("step " << i << ": " << done_);
      REQUIRE(q_.journal_bytes() <= bound(live_bytes_ + key_bytes_ + setting_bytes_));
    }
  }

  /// All that can be served is served, the rest cancelled, one by one or many at once; pushes work again.
  void drain() {
    while (!sizes_.empty()) {
      q_.clock.advance(100'000'000);
      settle();
      if (below(4) == 0) change(Action::cancel);
    }
    const std::string text = "on it goes";
    const NewMessage message{.payload = as_bytes(text)};
    push_lazily(q_.door(), {&message, 1});
    CHECK(q_.drain() == text);
  }

  /// All that can be ended is ended.
  void end() {
    for (;;) {
      q_.clock.advance(100'000'000);
      std::vector<MessageId> ids;
      for (const auto& [id, bytes] : sizes_) ids.push_back(MessageId{id});
      if (ids.empty()) break;
      REQUIRE(q_.door().mutate(ids, Action::cancel).ok());
      sizes_.clear();
    }
    REQUIRE(q_.drain().empty());
    CHECK(q_.journal_bytes() <= 8 * kMiB + 4 * setting_bytes_);
    q_.check_clean();
    q_.lose_segment();
    CHECK(q_.stats().ready == 0);
    q_.push("on it goes");
    CHECK(q_.drain() == "on it goes");
  }

 private:
  struct Size {
    uint64_t payload = 0, command = 0, error = 0;
    uint64_t all() const { return payload + command + error + 128; }
  };

  uint64_t below(uint64_t n) { return random_() % n; }
  size_t size() { return static_cast<size_t>(1) << below(17) >> (below(4) == 0 ? 0 : 1); }

  void step() {
    if (has_floods_ && below(500) == 0) return flood();
    switch (below(13)) {
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
      case 9: {
        done_ = "setting";
        const std::string tenant = "t" + std::to_string(below(50));
        const Result<void> set = q_.door().policy_set(
            tenant, {.set = {{PolicyKey::weight, static_cast<int64_t>(1'000 + below(9'000)), 0, {}}}});
        if (!is_refused(set)) REQUIRE(set.ok());
        setting_bytes_ = 50 * 128;
        return;
      }
      case 10:
        return edit();
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
      if (below(20) == 0 && last_id_ != 0) batch[i].after_any = {MessageId{last_id_}};
      if (below(10) == 0)
        batch[i].command =
            JobCommand{.argv = {"true"}, .cwd = "/", .env = {"A=" + std::string(size() / 4, 'e')}};
    }
    if (below(4) == 0) {
      batch.resize(1);
      batch[0].unique = unique;
      batch[0].unique_for_ms = 3'600'000;
      key_bytes_ = 1'000 * 40;
    }
    const auto reply = q_.door().push(batch, {.durability = Durability::lazy});
    if (is_refused(reply)) return;
    INFO((reply.ok() ? std::string() : reply.error().text));
    REQUIRE(reply.ok());
    const PushReply& pushed = *reply;
    for (size_t i = 0; i < batch.size(); ++i) {
      if (pushed.items[i].status != PushStatus::accepted) continue;
      last_id_ = number(pushed.items[i].id);
      const uint64_t command = batch[i].command ? batch[i].command->env[0].size() : 0;
      put(last_id_, {.payload = batch[i].payload.size(), .command = command});
    }
  }

  /// So many small ones that their files are large.
  void flood() {
    done_ = "flood";
    const std::string payload(1'000 + below(4'000), 'f');
    const std::vector<NewMessage> batch(50, NewMessage{.tenant = "flood", .payload = as_bytes(payload)});
    for (uint64_t left = 20 + below(200); left > 0; --left) {
      for (const PushResult& each : push_lazily(q_.door(), batch).items) {
        last_id_ = number(each.id);
        put(last_id_, {.payload = payload.size()});
      }
    }
  }

  /// One of all that live; there must be some.
  MessageId any() {
    const auto at = sizes_.lower_bound(below(last_id_ + 1));
    return MessageId{at == sizes_.end() ? sizes_.begin()->first : at->first};
  }

  void edit() {
    done_ = "edit";
    if (sizes_.empty()) return;
    const MessageId id = any();
    const std::string payload(size(), 'e');
    const auto edited = q_.door().edit(id, {.payload = as_bytes(payload)});
    if (is_refused(edited)) return;
    REQUIRE(edited.ok());
    if (*edited != SettleStatus::ok) return;
    Size now = sizes_.at(number(id));
    now.payload = payload.size();
    put(number(id), now);
  }

  void settle() {
    done_ = "settle";
    const LeaseReply leased =
        q_.lease_from(q_.door(), {.want = 1 + below(has_floods_ && below(8) == 0 ? 1'000 : 8),
                                  .hold = Hold::duration,
                                  .hold_ms = 5'000});
    std::vector<Settle> verdicts;
    const std::string text(below(4'000), 'e');
    for (const Delivery& each : leased.deliveries) {
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
      if (settled->items[i] == SettleStatus::ok && verdicts[i].verdict == Verdict::ack) take(id);
      // What was said of its last failure lives with it.
      const auto at = sizes_.find(id);
      if (verdicts[i].stderr_tail.empty() || at == sizes_.end()) continue;
      Size now = at->second;
      now.error = text.size();
      put(id, now);
    }
  }

  void change(Action action) {
    done_ = action == Action::cancel ? "cancel" : "kick";
    if (sizes_.empty()) return;
    const MessageId id = any();
    const auto changed = q_.door().mutate(std::span(&id, 1), action);
    // A kick has a push's room, and no more.
    if (action == Action::kick && is_refused(changed)) return;
    REQUIRE(changed.ok());
    if (action == Action::cancel && changed->changed == 1) take(number(id));
  }

  template <class T>
  bool is_refused(const Result<T>& result) {
    if (!is_full_ || result.ok() || result.error().kind != ErrorKind::later) return false;
    ++refused_;
    return true;
  }
  void put(uint64_t id, const Size& size) {
    const auto [at, is_new] = sizes_.try_emplace(id, size);
    if (!is_new) live_bytes_ -= at->second.all();
    at->second = size;
    live_bytes_ += size.all();
  }
  void take(uint64_t id) {
    live_bytes_ -= sizes_.at(id).all();
    sizes_.erase(id);
  }

  SpoolFixture q_;
  std::mt19937_64 random_;
  std::map<uint64_t, Size> sizes_;
  uint64_t live_bytes_ = 0, key_bytes_ = 0, setting_bytes_ = 0, last_id_ = 0, refused_ = 0;
  bool is_full_ = false, has_floods_ = false;
  std::string done_;
};

}  // namespace fq::test
