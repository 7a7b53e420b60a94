// ledger - what clients were told of each message, and what may therefore be left of it.
//
// Kept outside the spool, by payload. Sent: it may be there. Accepted: it is there until somebody may
// have acked it. Acked: it is never there again.
#pragma once

// System.
#include <map>
#include <set>
#include <string>

namespace fq::test {

class Ledger {
 public:
  std::string new_payload(size_t bytes) {
    std::string payload = std::to_string(++sent_) + "-";
    if (payload.size() < bytes) payload.resize(bytes, 'x');
    fates_[payload];
    return payload;
  }
  void accepted(const std::string& payload) { fates_.at(payload).accepted = true; }
  /// Whether it may be handed to somebody now.
  bool may_be_there(const std::string& payload) const {
    const auto found = fates_.find(payload);
    return found != fates_.end() && !found->second.gone;
  }
  /// From now on an ack of it may have happened.
  void may_be_acked(const std::string& payload) { fates_.at(payload).may_be_gone = true; }
  void acked(const std::string& payload) { fates_.at(payload).gone = true; }

  /// What is wrong with these messages being there and no others; empty: nothing. What is not there and need
  /// not be may not come back: it is forgotten.
  std::string fault_of(const std::set<std::string>& there) {
    for (const std::string& payload : there) {
      const auto found = fates_.find(payload);
      if (found == fates_.end()) return "never pushed, or gone before: " + payload.substr(0, 20);
      if (found->second.gone) return "acked, and came back: " + payload.substr(0, 20);
      // Perhaps nobody was told, and yet it is there: from now on it stays.
      found->second = {.accepted = true};
    }
    for (const auto& [payload, fate] : fates_) {
      const bool must_be = fate.accepted && !fate.may_be_gone && !fate.gone;
      if (must_be && there.count(payload) == 0) return "accepted, and lost: " + payload.substr(0, 20);
    }
    std::erase_if(fates_, [&](const auto& known) { return there.count(known.first) == 0; });
    return {};
  }

 private:
  struct Fate {
    bool accepted = false;
    bool may_be_gone = false;
    bool gone = false;
  };
  std::map<std::string, Fate> fates_;
  int sent_ = 0;
};

}  // namespace fq::test
