// held_message - a consumer that holds one message by living, outside of every lock.
//
// Its payload is larger than a pipe and nobody reads on: the consumer stands in the middle of writing it, and
// acks only afterwards.
#pragma once

// System.
#include <sys/stat.h>
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

class HeldMessage {
 public:
  /// Pushes the message (120,000 times x, of tenant "held") and starts its consumer. Returns when it is held.
  explicit HeldMessage(const Spool& spool) : consumer_(start(spool)) {}
  ~HeldMessage() { ::close(pipe_); }
  HeldMessage(const HeldMessage&) = delete;
  HeldMessage& operator=(const HeldMessage&) = delete;

  Child& child() { return consumer_; }

  /// Reads all of it: the consumer acks and ends.
  Outcome drained() {
    std::vector<char> block(64 * 1024);
    while (::read(pipe_, block.data(), block.size()) > 0) {
    }
    return consumer_.end();
  }

 private:
  Child start(const Spool& spool) {
    spool.says({"push", "-t", "held"}, {.env = {}, .input = std::string(120'000, 'x')});
    const std::string fifo = spool.directory() + "/held";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    Child child({"/bin/sh", "-c", "exec \"$0\" pop -t held >" + fifo, fq_binary()}, spool.with());
    pipe_ = ::open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
    char first = 0;
    REQUIRE(::read(pipe_, &first, 1) == 1);
    return child;
  }

  int pipe_ = -1;
  Child consumer_;  // after the pipe, which its start opens
};

}  // namespace fq::test
