// life_pace - what a piece of work that is always the same takes: an old queue is held against a young one.
//
// In steps (core/base/step_count.h), which are the same on any machine at any time, and in the process's time
// of the processor, with that of the kernel. Others on the same machine make that longer, for they share its
// caches and cores, so it is told in parts of a floor that is worked off by turns with it.
#pragma once

// System.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/step_count.h"
// Tests.
#include "tests/process/real_fq.h"
#include "tests/processor_time.h"

namespace fq::test {

inline constexpr double kSlowerMax = 1.2;

struct Pace {
  uint64_t operations = 0;
  uint64_t steps = 0;
  double floors = 0;  // its time of the processor, in parts of the floor's
};

/// What no queue can do without: a payload is copied to some place of a memory that no cache holds, summed,
/// and written to a file.
class PaceFloor {
 public:
  explicit PaceFloor(const std::string& payload) : payload_(payload), file_(::memfd_create("floor", 0)) {}
  ~PaceFloor() { ::close(file_); }
  PaceFloor(const PaceFloor&) = delete;
  PaceFloor& operator=(const PaceFloor&) = delete;

  /// False: it could not be written.
  bool work(size_t operations) {
    for (size_t i = 0; i < operations; ++i) {
      char* place = &memory_[random_() % (memory_.size() - payload_.size())];
      std::copy(payload_.begin(), payload_.end(), place);
      sum_ = crc32c(sum_, {reinterpret_cast<const std::byte*>(place), payload_.size()});
      end_ = (end_ + payload_.size()) % kFileBytes;
      const ssize_t written = ::pwrite(file_, place, payload_.size(), static_cast<off_t>(end_));
      if (written != static_cast<ssize_t>(payload_.size())) return false;
    }
    return sum_ != 0;
  }

 private:
  static constexpr size_t kMemoryBytes = 32 << 20;
  static constexpr size_t kFileBytes = 4 << 20;

  const std::string& payload_;
  const int file_;
  std::vector<char> memory_ = std::vector<char>(kMemoryBytes, 'm');
  std::minstd_rand random_;
  uint32_t sum_ = 1;
  size_t end_ = 0;
};

/// Messages of a tenant of their own are pushed, leased and acked. None: one of them was not.
inline std::optional<Pace> work_once(Queue& queue, uint64_t operations) {
  constexpr size_t kAtOnce = 50;
  const std::string payload(200, 'p');
  PaceFloor floor(payload);
  const std::vector<NewMessage> batch(kAtOnce, NewMessage{.tenant = "pace", .payload = as_bytes(payload)});
  Pace pace;
  double work_s = 0, floor_s = 0;
#ifdef FQ_FAULT_POINTS
  const uint64_t steps = StepCount::steps;
#endif
  for (; pace.operations < operations; pace.operations += 3 * kAtOnce) {
    const double began_s = processor_s();
    const auto pushed = queue.push(batch, {.durability = Durability::lazy});
    if (!pushed.ok() || pushed->error) return std::nullopt;
    const auto leased = queue.lease({.want = kAtOnce, .tenant = "pace"});
    if (!leased.ok() || leased->deliveries.size() != kAtOnce) return std::nullopt;
    std::vector<Settle> acks;
    for (const Delivery& each : leased->deliveries) acks.push_back({.receipt = each.receipt});
    const auto settled = queue.settle(acks);
    if (!settled.ok() || settled->error) return std::nullopt;
    const double floor_began_s = processor_s();
    if (!floor.work(3 * kAtOnce)) return std::nullopt;
    work_s += floor_began_s - began_s;
    floor_s += processor_s() - floor_began_s;
  }
#ifdef FQ_FAULT_POINTS
  pace.steps = StepCount::steps - steps;
#endif
  pace.floors = work_s / floor_s;
  return pace;
}

/// The middle of some. Before them as many messages end as a queue remembers, which a young one has not: each
/// end then takes the place of another.
inline std::optional<Pace> pace_of(Queue& queue, uint64_t operations) {
  constexpr uint64_t kRemembered = 65'536;
  if (!work_once(queue, 3 * kRemembered)) return std::nullopt;
  std::array<Pace, 9> paces;
  for (Pace& each : paces) {
    const std::optional<Pace> pace = work_once(queue, operations);
    if (!pace) return std::nullopt;
    each = *pace;
  }
  Pace middle = paces[0];
  const auto of = [&](auto Pace::*figure) {
    std::nth_element(paces.begin(), paces.begin() + paces.size() / 2, paces.end(),
                     [&](const Pace& a, const Pace& b) { return a.*figure < b.*figure; });
    return paces[paces.size() / 2].*figure;
  };
  middle.steps = of(&Pace::steps);
  middle.floors = of(&Pace::floors);
  return middle;
}

}  // namespace fq::test
