// living_sessions - the sessions of this process that a server may know, by what they are of: any call says
// that all of them live. Those that it cannot know are left out, since each costs it a look in each call.
#pragma once

// System.
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace fq {

class LivingSessions {
 public:
  void add(const std::string& place, const std::string& nonce) {
    const std::lock_guard lock(mutex_);
    nonces_[place].insert(nonce);
  }
  void remove(const std::string& place, const std::string& nonce) {
    const std::lock_guard lock(mutex_);
    nonces_[place].erase(nonce);
  }
  /// One behind the other, `own` first.
  std::string all(const std::string& place, const std::string& own) {
    const std::lock_guard lock(mutex_);
    std::string text = own;
    for (const std::string& each : nonces_[place]) {
      if (each != own) text += each;
    }
    return text;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> nonces_;
};

inline LivingSessions& living_sessions() {
  static LivingSessions sessions;
  return sessions;
}

}  // namespace fq
