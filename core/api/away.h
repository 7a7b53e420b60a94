// away - parts of queues that did not answer, or have lost what they begin with, so that what was told is
// without them.
#pragma once

// System.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fq {

class AwayList {
 public:
  /// `server`: which of them; "": it is not known.
  struct Part {
    std::string server, why;
    bool is_lost = false;  // it answers, and serves nothing
  };
  /// Of one queue, by number; `of`: how many it has.
  struct Parts {
    std::map<uint32_t, Part> by_shard;
    uint32_t of = 0;
  };
  void note(const std::string& queue, uint32_t shard, Part part, uint32_t of);
  void clear() { queues_.clear(); }

  bool is_empty() const { return queues_.empty(); }
  bool is_any_lost() const;
  /// By name.
  const std::map<std::string, Parts>& queues() const { return queues_; }
  /// Of each queue: "queue 'mail': 4 of 64 shards cannot be reached (SERVER: WHY)", "cannot be served (WHY)",
  /// or both; of several reasons the first.
  std::vector<std::string> texts() const;
  /// Those in one.
  std::string text() const;

 private:
  std::map<std::string, Parts> queues_;
};

}  // namespace fq
