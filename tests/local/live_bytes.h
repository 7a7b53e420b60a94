// live_bytes - the messages of a queue that have not ended, by id, and the bytes that they take in its
// journal.
#pragma once

// System.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>
// fq, below us.
#include "core/base/ids.h"

namespace fq::test {

class LiveBytes {
 public:
  struct Size {
    uint64_t payload = 0, command = 0, error = 0, steps = 0;
    uint64_t all() const { return payload + command + error + steps + 128; }
  };

  uint64_t bytes() const { return bytes_; }
  bool empty() const { return sizes_.empty(); }
  bool has(uint64_t id) const { return sizes_.contains(id); }
  /// The highest that there ever was.
  uint64_t last_id() const { return last_id_; }
  /// Of one that is not there: of a new one.
  Size size_of(uint64_t id) const {
    const auto at = sizes_.find(id);
    return at == sizes_.end() ? Size{} : at->second;
  }
  std::vector<MessageId> ids() const {
    std::vector<MessageId> all;
    for (const auto& [id, size] : sizes_) all.push_back(MessageId{id});
    return all;
  }
  /// Or the next one, or the first. Needs: not empty.
  uint64_t near(uint64_t id) const {
    const auto at = sizes_.lower_bound(id);
    return at == sizes_.end() ? sizes_.begin()->first : at->first;
  }

  void put(uint64_t id, const Size& size) {
    last_id_ = std::max(last_id_, id);
    bytes_ -= has(id) ? sizes_.at(id).all() : 0;
    sizes_[id] = size;
    bytes_ += size.all();
  }
  /// What is not there stays so.
  void take(uint64_t id) {
    if (!has(id)) return;
    bytes_ -= sizes_.at(id).all();
    sizes_.erase(id);
  }
  void clear() {
    sizes_.clear();
    bytes_ = 0;
  }

 private:
  std::map<uint64_t, Size> sizes_;
  uint64_t bytes_ = 0, last_id_ = 0;
};

}  // namespace fq::test
