// invented_load - messages that nobody pushed: so many in a span of each tenant, at times that are
// independent of one another, each with a run of the same length.
//
// Times are drawn from a fixed seed, so the same load is the same each time.
#pragma once

// System.
#include <random>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/simulate/load.h"

namespace fq {

/// One simulation holds so many messages at most: chosen, some 1 GiB if all of them wait.
inline constexpr uint64_t kInventedMessagesMax = 10'000'000;

struct LoadSpec {
  std::string tenant;
  uint64_t count = 1;      // so many
  int64_t span_ms = 1000;  // in each of these
  int64_t run_ms = 0;
  uint32_t weight_milli = 0;  // 0: as the policy says
};

class InventedLoad : public Load {
 public:
  /// `settings` hold from its beginning on, `limited` for so long from then; a weight of `specs` wins.
  /// ErrorKind::usage: too many messages, or none.
  static Result<InventedLoad> make(const std::vector<LoadSpec>& specs, int64_t for_ms,
                                   std::vector<Setting> settings = {});

  void rewind() override;
  int64_t next_ms() const override;
  Happening take() override;
  Incoming arrival(uint64_t message) const override { return {.tenant = tenant_of(message)}; }
  uint32_t tenant_of(uint64_t message) const override { return sources_[source_of_[message - 1]].tenant; }
  Run run(uint64_t message, uint32_t) const override {
    return {.run_ms = sources_[source_of_[message - 1]].run_ms};
  }
  const Setting& setting(uint64_t which) const override { return settings_[which]; }
  const std::vector<std::string>& tenants() const override { return tenants_; }
  bool has_followers() const override { return false; }
  bool is_whole(uint64_t) const override { return true; }
  int64_t counts_until_ms(uint64_t) const override { return kNever; }
  int64_t begin_ms() const override { return kBegin; }
  int64_t end_ms() const override { return kBegin + for_ms_; }
  int64_t taken_from_ms() const override { return kBegin; }

 private:
  static constexpr int64_t kBegin = 86'400'000;  // arbitrary; 0 is no time
  struct Source {
    uint32_t tenant = 0;
    double gap_ms = 0;  // on average
    int64_t run_ms = 0;
  };
  struct Coming {
    double at_ms;
    uint32_t source;
    /// For a heap whose front comes first.
    bool operator<(const Coming& other) const {
      return at_ms != other.at_ms ? at_ms > other.at_ms : source > other.source;
    }
  };

  InventedLoad(const std::vector<LoadSpec>& specs, int64_t for_ms, std::vector<Setting> settings);
  void plan(double from_ms, uint32_t source);

  int64_t for_ms_;
  std::vector<Source> sources_;
  std::vector<std::string> tenants_;
  std::vector<Setting> settings_;
  std::mt19937_64 random_;
  std::vector<Coming> coming_;       // a heap
  std::vector<uint32_t> source_of_;  // of each message that has come
  size_t settings_made_ = 0;
};

}  // namespace fq
