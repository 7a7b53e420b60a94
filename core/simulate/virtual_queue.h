// virtual_queue - a queue that lives in memory and in no time but the one that it is told: the scheduler
// itself under a policy, with messages that have no payload.
//
// It adds to the schedule the same as the local engine: the policy's layers put together, limits on the
// messages held, and the fate of messages that wait for others. Everything else is core/schedule as it is.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
// fq, below us.
#include "core/api/settings.h"
// fq, this room.
#include "core/simulate/ground.h"
#include "core/simulate/load.h"

namespace fq {

class VirtualQueue {
 public:
  /// `remembers`: messages come after others, and how these have ended may have to be known long after.
  VirtualQueue(const Policy& policy, int64_t now_ms, bool remembers);

  int64_t now_ms() const { return now_ms_; }
  const Settings& settings() const { return settings_; }
  /// Of the next thing that time alone does; kNever: none.
  int64_t next_timer_ms() const { return ground_.schedule().timers().next_ms(); }
  void wait_until(int64_t at_ms);

  /// False: a limit on what may be held refuses it.
  bool push(uint64_t id, const std::string& tenant, const Incoming& arrival);
  void set(const std::string& path, const PolicyPatch& patch);
  void cancel(uint64_t id);
  void make_due(uint64_t id);

  struct Started {
    uint64_t id = 0;
    uint32_t nth = 0;  // delivery of it, from 0
    SlotIndex slot{};  // where it is until its end
  };
  /// Starts the message whose turn it is; none: nothing can be served.
  std::optional<Started> start_next();
  /// Starts this message, whichever turn is next. None: it is not waiting.
  std::optional<Started> start(uint64_t id);
  void end(const Started& started, const Run& run);

  bool is_ready(uint64_t id) const { return is_in(id, SlotState::ready); }
  bool has_waiting() const;
  /// The messages that were let go since the last call, because what they came after has ended.
  std::vector<uint64_t> take_freed() { return std::exchange(freed_, {}); }
  /// In thousandths; of a path that has no messages the usual one.
  uint32_t weight_of(std::string_view path) const;

 private:
  bool is_in(uint64_t id, SlotState state) const;
  std::optional<SlotIndex> find(uint64_t id) const {
    return ground_.schedule().messages().find(MessageId{id});
  }
  void load(const Policy& policy);
  void put_together();
  bool is_over_limit(std::string_view tenant, uint64_t bytes) const;
  void resolve();

  Ground ground_;
  int64_t now_ms_;
  const bool remembers_;
  uint64_t last_serial_ = 0;
  PolicyValues of_file_, of_run_time_;  // of the queue as a whole
  Settings settings_;
  std::vector<uint64_t> freed_;
};

}  // namespace fq
