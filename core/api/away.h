// away - parts of one queue that did not answer, or have lost what they begin with, so that what was told is
// without them.
#pragma once

// System.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace fq {

class AwayList {
 public:
  /// `server`: which of them; "": it is not known. `of`: how many parts the queue has.
  struct Part {
    std::string server, why;
    bool is_lost = false;  // it answers, and serves nothing
  };
  void note(const std::string& queue, uint32_t shard, Part part, uint32_t of) {
    queue_ = queue;
    of_ = of;
    parts_[shard] = std::move(part);
  }
  bool is_empty() const { return parts_.empty(); }
  bool is_any_lost() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const auto& each) { return each.second.is_lost; });
  }
  const std::map<uint32_t, Part>& parts() const { return parts_; }
  void clear() { parts_.clear(); }
  /// "queue 'mail': 4 of 64 shards cannot be reached (SERVER: WHY)", or "cannot be served (WHY)"; of several
  /// reasons the first.
  std::string text() const {
    if (parts_.empty()) return {};
    const Part& first = parts_.begin()->second;
    return "queue '" + queue_ + "': " + std::to_string(parts_.size()) + " of " + std::to_string(of_) +
           " shards cannot be " + (first.is_lost ? "served" : "reached") + " (" + first.server +
           (first.server.empty() ? "" : ": ") + first.why + ")";
  }

 private:
  std::map<uint32_t, Part> parts_;
  std::string queue_;
  uint32_t of_ = 0;
};

}  // namespace fq
