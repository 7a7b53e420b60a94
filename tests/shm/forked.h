// forked - shared memory and child processes for the tests of this room.
//
// A child runs a function and ends; it tells the test how far it is through a word in the shared memory,
// so that no test has to guess how long something takes.
#pragma once

// System.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <new>
// fq, this room.
#include "core/shm/futex.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

/// A T in memory that children share.
template <class T>
class SharedBox {
 public:
  SharedBox() {
    void* at = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    held_ = new (at) T{};
  }
  SharedBox(const SharedBox&) = delete;
  SharedBox& operator=(const SharedBox&) = delete;
  T* operator->() { return held_; }
  T& operator*() { return *held_; }
  // Never unmapped: what lies in it may be a robust lock (see core/shm/robust_mutex.h).

 private:
  T* held_;
};

/// A child process that runs `body` and then ends without any clean-up.
class Forked {
 public:
  template <class Body>
  explicit Forked(Body&& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::alarm(20);  // a child that hangs ends itself
    body();
    ::_exit(0);
  }
  ~Forked() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  pid_t pid() const { return pid_; }
  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

/// Waits until the word has reached `value`; fails the test after 10 s.
inline void await(EventWord& word, uint32_t value) {
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t seen = word.load(); seen < value; seen = word.load()) {
    futex_wait(word, seen, 100);
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(10)) FAIL("the child did not get there");
  }
}

inline double elapsed_ms(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace fq::test
