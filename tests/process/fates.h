// fates - what threads that stand for processes were told of their messages, and what must then be on disk.
//
// For tests in which a PageCache fails calls and cuts the power: they run in_own_process, since a thread that
// dies there leaves its locks and descriptors lying about.
#pragma once

// System.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

struct Fate {
  bool accepted = false;
  bool acking = false;
  bool acked = false;
};
using Fates = std::map<std::string, Fate>;

/// What all threads asked for and were told, by payload.
class Book {
 public:
  void sent(const std::string& payload) {
    const std::scoped_lock locked(lock_);
    fates_[payload];
  }
  void note(const std::string& payload, bool Fate::*what) {
    const std::scoped_lock locked(lock_);
    fates_[payload].*what = true;
  }
  Fates fates() const {
    const std::scoped_lock locked(lock_);
    return fates_;
  }

 private:
  mutable std::mutex lock_;
  Fates fates_;
};

Result<std::unique_ptr<Queue>> open_at(const std::string& spool);

/// Pushes durably, through a queue of its own. What is wrong, or nothing.
std::string push_one(const std::string& spool, const std::string& payload, Book& book);

/// What is wrong with this spool, if `then` is what had been told when it was cut off, and `in_all` what was
/// told in the end.
std::string fault_of(const std::string& spool, const Fates& then, const Fates& in_all);

/// What a case came to; `wrong` is empty when all was well.
struct Ruling {
  int failures = 0;  // calls that failed
  int refused = 0;   // operations that were answered with an error
  std::string wrong;
};

/// In a child, in a directory of its own. FQ_KEEP names where the files of the first bad one are left.
Ruling in_own_process(const std::function<Ruling(const std::string& directory)>& attempt);

}  // namespace fq::test
