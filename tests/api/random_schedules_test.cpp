// random_schedules_test - random histories of schedules on an engine and on the first one, compared after
// each step.
//
// A history is a seed: schedules are set, paused, run and removed, messages are taken and acked, time goes by
// and the wall clock is set. No two times of one history tie, so both engines make the same messages in one
// order. FQ_SEED=n runs one history again, FQ_HISTORIES=n more of them.
#include "tests/api/contract.h"

// System.
#include <random>
// Tests.
#include "tests/knobs.h"

namespace fq::test {

namespace {

constexpr size_t kScheduleSteps = 60;
constexpr int64_t kStepMinuteMs = 60'000;
constexpr uint64_t kStepClockBackMinutes = 3 * 24 * 60;
constexpr const char* kNames[] = {"a", "b", "c", "d"};

/// One engine, and what it was seen to do.
class ScheduleSide {
 public:
  explicit ScheduleSide(size_t engine) : q_(engine) {}

  QueueFixture& q() { return q_; }
  Schedules& schedules() { return *q_.door().schedules(); }
  void note(const std::string& line) { log_ += line + "\n"; }
  const std::string& log() const { return log_; }

  void take(int64_t hold_ms) {
    LeaseReply reply = q_.lease_all(timed_lease(1, hold_ms));
    if (reply.deliveries.empty()) return note("nothing");
    Delivery& one = reply.deliveries[0];
    note("took " + payload_of(one) + " of " + one.schedule + " at " +
         std::to_string(one.scheduled_at_wall_ms));
    taken_.push_back(std::move(one));
  }
  void settle(uint64_t which, Verdict verdict) {
    if (taken_.empty()) return;
    const Delivery& one = taken_[which % taken_.size()];
    const SettleStatus status = q_.settle(one.receipt, verdict);
    note(is_refused(status) ? "refused" : "settled " + std::to_string(static_cast<int>(status)));
  }
  void look() {
    for (const char* name : kNames) {
      const std::optional<ScheduleInfo> info = schedules().get(name).value();
      if (!info) continue;
      std::string line = info->name + " " + info->spec + (info->paused ? " paused" : "") + " last " +
                         std::to_string(static_cast<int>(info->last)) + " at " +
                         std::to_string(info->last_wall_ms);
      for (const int64_t at : info->next_wall_ms) line += " next " + std::to_string(at);
      note(line);
    }
    // What waited for a message that died of its time is let go by the next look.
    static_cast<void>(q_.peek(1));
    const StatsRow row = q_.stats();
    note("ready " + std::to_string(row.ready) + " leased " + std::to_string(row.leased) + " held " +
         std::to_string(row.held) + " dead " + std::to_string(row.dead));
  }

 private:
  QueueFixture q_;
  std::vector<Delivery> taken_;
  std::string log_;
};

class ScheduleHistory {
 public:
  ScheduleHistory(size_t engine, uint64_t seed) : random_(seed), one_(0), other_(engine) {}

  bool run() {
    for (size_t i = 0; i < kScheduleSteps; ++i) {
      step();
      on_both([](ScheduleSide& side) { side.look(); });
      if (one_.log() == other_.log()) continue;
      WARN("the first:\n" << one_.log().substr(one_.log().size() > 2000 ? one_.log().size() - 2000 : 0));
      WARN("the other:\n"
           << other_.log().substr(other_.log().size() > 2000 ? other_.log().size() - 2000 : 0));
      return false;
    }
    const Result<CheckReport> report = other_.q().door().check();
    if (report.ok() && !report->findings.empty()) WARN(report->findings.lines[0]);
    return report.ok() && report->findings.empty();
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  template <class Act>
  void on_both(Act act) {
    act(one_);
    act(other_);
  }

  void step() {
    const std::string name = kNames[below(std::size(kNames))];
    switch (below(10)) {
      case 0:
      case 1:
        return set(name);
      case 2: {
        const bool paused = below(2) == 0;
        return on_both([&](ScheduleSide& side) {
          side.note((paused ? "pause " : "resume ") + name +
                    std::to_string(side.schedules().pause(name, paused).value()));
        });
      }
      case 3:
        return on_both([&](ScheduleSide& side) {
          side.note("run " + name + std::to_string(side.schedules().run(name).value().has_value()));
        });
      case 4:
        if (below(3) != 0) return step_clock();
        return on_both([&](ScheduleSide& side) {
          side.note("remove " + name + std::to_string(side.schedules().remove(name).value()));
        });
      case 5:
      case 6: {
        const auto hold_ms = static_cast<int64_t>(below(40)) * kStepMinuteMs + 501;
        return on_both([&](ScheduleSide& side) { side.take(hold_ms); });
      }
      case 7: {
        const uint64_t which = random_();
        const Verdict verdict = below(3) == 0 ? Verdict::bury : Verdict::ack;
        return on_both([&](ScheduleSide& side) { side.settle(which, verdict); });
      }
      default: {
        const auto ms = static_cast<int64_t>(below(30) * below(30)) * kStepMinuteMs / 10 + 7;
        on_both([&](ScheduleSide& side) {
          side.note("advance " + std::to_string(ms));
          side.q().clock().advance(ms);
        });
      }
    }
  }

  /// Spans of their own, so that no two schedules are due at one time.
  void set(const std::string& name) {
    ScheduleDefinition definition;
    definition.name = name;
    const auto which = static_cast<int64_t>(name[0] - 'a');
    const std::string specs[] = {
        "every " + std::to_string(3 + which) + "m" + std::to_string(++sets_ % 50) + "s",
        std::to_string(which * 13 + 1) + " * * * *", std::to_string(which * 13 + 2) + ",50 */2 * * *"};
    definition.spec = specs[below(which == 0 ? 3 : 2)];
    definition.zone = below(2) == 0 ? "Europe/Berlin" : "UTC";
    definition.missed = static_cast<MissedRule>(below(3));
    definition.overlap = static_cast<OverlapRule>(below(3));
    const std::string payload = name + std::to_string(sets_);
    definition.message.payload = as_bytes(payload);
    on_both([&](ScheduleSide& side) {
      side.note("set " + name + " " + definition.spec);
      REQUIRE(side.schedules().set(definition).ok());
    });
  }

  /// A few hours forth or one back; or back by up to three days, as somebody does who sets a wrong clock
  /// right. Of queues on a server it is another clock: see tests/redis/clock_test.cpp.
  void step_clock() {
    const bool is_of_machine = other_.q().door().caps().kernel_death_detection;
    const int64_t minutes = below(3) != 0 || !is_of_machine
                                ? static_cast<int64_t>(below(240)) - 60
                                : -static_cast<int64_t>(below(kStepClockBackMinutes));
    const int64_t ms = minutes * kStepMinuteMs + 3;
    on_both([&](ScheduleSide& side) {
      side.note("wall clock " + std::to_string(ms));
      side.q().set_wall_ms(side.q().clock().wall_ms() + ms);
    });
  }

  std::mt19937_64 random_;
  ScheduleSide one_, other_;
  uint64_t sets_ = 0;
};

}  // namespace

TEST_CASE("random histories of schedules end as the model's do") {
  const uint64_t first = seed_of_run();
  const uint64_t count = std::min<uint64_t>(number_of("FQ_HISTORIES", 40), 400);
  for (const size_t engine : engines_of_this_test()) {
    if (engine == 0) continue;  // the one that the others are held against
    if (QueueFixture(engine).door().schedules() == nullptr) continue;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      INFO("FQ_SEED=" << seed << " on " << engine_name(engine));
      REQUIRE(ScheduleHistory(engine, seed).run());
    }
  }
}

}  // namespace fq::test
