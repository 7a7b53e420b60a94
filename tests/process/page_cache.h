// page_cache - this process's disk: which of its writes are on it, and which of its calls fail.
//
// pwrite, fsync and fdatasync of the test program go through here (the linker prefers a program's own over
// the C library's), so the engine is the real one, on real files, with several threads for several processes.
// A Platter knows what a power cut would leave; a failed sync proves nothing, and neither does a second one.
// Names are taken to be durable at once: what becomes of those is for tests/crash.
#pragma once

// System.
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
// fq, below us.
#include "core/base/descriptor.h"
// Tests.
#include "tests/fakes/platter.h"

namespace fq::test {

class PageCache {
 public:
  static constexpr int kAnyThread = -1;
  static constexpr uint64_t kOnce = 1;
  static constexpr uint64_t kFromThenOn = UINT64_MAX;

  /// Calls of one kind fail, counted over all threads or those of one: the n-th and what the bits of
  /// `pattern` say of those from there on.
  struct Fault {
    enum class Call { none, sync, write };
    Call call = Call::none;
    int n = 1;
    uint64_t pattern = kOnce;
    int sys = 0;
    int thread = kAnyThread;
    size_t bytes_written = 0;              // by a write that fails, before it does
    bool dies = false;                     // the thread is gone right after, as a killed process is
    std::function<void()> meanwhile = {};  // what happens while a call that fails is under way
  };

  /// From now on, for files below the directory. One at a time.
  PageCache(std::string directory, const Fault& fault);
  ~PageCache();
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  /// How the calling thread is called in a Fault.
  static void this_thread_is(int thread);
  /// From here on nothing fails.
  void heal();
  /// How often something failed.
  int failures() const { return failures_; }
  /// Copies the directory as a power cut would leave it now, without segments: all that is certain and, with
  /// `random`, any part of the rest.
  void cut(const std::string& to, std::mt19937_64* random = nullptr);

  // For the calls themselves.
  static PageCache* active();
  ssize_t write(int file, const void* from, size_t bytes, off_t at);
  int sync(int file);

 private:
  /// A file of the directory: its number on the platter. It stays open by its path alone (which holds no
  /// lock), so that its number goes to no file made later.
  struct Known {
    uint64_t inode = 0;
    Descriptor path;
  };

  /// 0: not one of ours.
  uint64_t inode_of(int file);
  bool fails(Fault::Call call);

  const std::string directory_;
  Fault fault_;
  std::mutex lock_;
  Platter platter_;
  std::map<uint64_t, Known> known_;  // by the file system's number
  int calls_ = 0;
  int failures_ = 0;
};

}  // namespace fq::test
