// random_patch - an edit of a message of the model, drawn at random.
#pragma once

// System.
#include <functional>
#include <random>
#include <string>
// Tests.
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/model.h"

namespace fq::test {

/// Owns what its patch points to.
class RandomPatch {
 public:
  struct Draw {
    std::mt19937_64& random;
    FakeClock& clock;
    std::function<int64_t(int64_t most)> fresh_span_ms;  // to a time at which no other timer ends
    uint64_t below(uint64_t n) const { return random() % n; }
  };

  /// `timed`: it may be due at another time.
  RandomPatch(const Model::Message& message, Order order, bool timed, const Draw& draw)
      : payload_(message.info.payload.value_or("")) {
    if (draw.below(3) == 0 && !payload_.empty()) {
      payload_[0] = payload_[0] == 'm' ? 'e' : 'm';  // as long as it was: a start costs the same
      patch_.payload = as_bytes(payload_);
    }
    if (order == Order::priority && draw.below(2) == 0)
      patch_.priority = static_cast<int32_t>(draw.below(5)) - 2;
    if (draw.below(4) != 0) key_ = static_cast<char>('a' + draw.below(5));
    if (order == Order::key && draw.below(2) == 0) patch_.key = key_;
    if (draw.below(4) == 0) patch_.attempts_max.emplace();
    if (patch_.attempts_max && draw.below(2) == 0)
      *patch_.attempts_max = 1 + static_cast<uint32_t>(draw.below(3));
    if (timed) set_times(message, draw);
  }
  RandomPatch(const RandomPatch&) = delete;
  RandomPatch& operator=(const RandomPatch&) = delete;

  const MessagePatch& patch() const { return patch_; }
  std::string text() const {
    return " payload '" + (patch_.payload ? payload_ : "") + "' priority " +
           std::to_string(patch_.priority.value_or(0)) + " key '" + (patch_.key ? key_ : "-") + "' delay " +
           std::to_string(patch_.delay_ms.value_or(-1)) + " at " +
           std::to_string(patch_.at_wall_ms.value_or(0)) + " ttl " +
           std::to_string(patch_.ttl_ms ? patch_.ttl_ms->value_or(0) : -1);
  }

 private:
  /// When it is due, and how long it may wait then. Of a held one nobody knows yet when it comes back.
  void set_times(const Model::Message& message, const Draw& draw) {
    const State state = message.info.state;
    if (state == State::dead) return;
    std::optional<int64_t> from_ms;
    if (state == State::ready) from_ms = message.since_ms;
    if (state == State::delayed) from_ms = message.timer;
    if (draw.below(3) == 0) {
      const bool now = state != State::held && draw.below(3) == 0;
      const int64_t span_ms = now ? 0 : draw.fresh_span_ms(2'000);
      if (state == State::held || draw.below(2) == 0)
        patch_.at_wall_ms = draw.clock.wall_ms() + span_ms;
      else
        patch_.delay_ms = span_ms;
      if (!now || state == State::delayed) from_ms = draw.clock.boot_ms() + span_ms;
      if (state == State::held) from_ms.reset();
    }
    if (!from_ms || draw.below(3) != 0) return;
    patch_.ttl_ms.emplace();
    const int64_t ttl_ms = draw.clock.boot_ms() + draw.fresh_span_ms(3'000) - *from_ms;
    if (draw.below(3) != 0 && ttl_ms > 0) *patch_.ttl_ms = ttl_ms;
  }

  std::string payload_;
  std::string key_;
  MessagePatch patch_;
};

}  // namespace fq::test
