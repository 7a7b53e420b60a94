// passage_test - our own output, written to without ever being waited for.

// System.
#include <signal.h>
#include <sys/socket.h>
// fq, below us.
#include "core/worker/passage.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

constexpr size_t kHeldMax = 256 * 1024;

/// As in a worker: a reader that left is an error code and no signal.
struct NoPipeSignal {
  NoPipeSignal() : before(::signal(SIGPIPE, SIG_IGN)) {}
  ~NoPipeSignal() { ::signal(SIGPIPE, before); }
  sighandler_t before;
};

/// The worker's descriptor, which others share: it blocks.
void make_blocking(const PipeEnds& pipe) { ::fcntl(pipe.write.get(), F_SETFL, 0); }

}  // namespace

TEST_CASE("what the reader does not take now is held and written later, unchanged") {
  PipeEnds pipe;
  make_blocking(pipe);
  Passage passage(pipe.write.get());
  std::string all;
  for (int i = 0; i < 20'000; ++i) all += std::to_string(i) + "\n";
  passage.write(all);
  CHECK(passage.holds_something());
  std::string got = pipe.drain();
  while (passage.holds_something()) {
    passage.flush();
    got += pipe.drain();
  }
  CHECK(got == all);
  CHECK((::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("over the limit what may be said without end is left out and counted, all else is held") {
  PipeEnds pipe;
  Passage passage(pipe.write.get());
  pipe.fill();
  passage.write(std::string(kHeldMax - 1, 'a'));
  CHECK(passage.has_room());
  passage.remark("b");
  CHECK_FALSE(passage.has_room());
  passage.remark("lost");
  passage.write("c");
  const std::string rest = pipe.drain();
  std::string got;
  while (passage.holds_something()) {
    passage.flush();
    got += pipe.drain();
  }
  CHECK(got == std::string(kHeldMax - 1, 'a') + "bc");
  CHECK(passage.has_room());
  CHECK(passage.finish(0) == 4);
  CHECK(passage.finish(0) == 0);  // counted once
}

TEST_CASE("a reader that has left costs nothing") {
  const NoPipeSignal ignored;
  PipeEnds pipe;
  Passage passage(pipe.write.get());
  pipe.fill();
  passage.write("held");
  pipe.read.close();
  passage.flush();
  CHECK(passage.broken());
  CHECK_FALSE(passage.holds_something());
  passage.write(std::string(2 * kHeldMax, 'x'));
  CHECK(passage.has_room());
  CHECK(passage.finish(0) == 0);
}

TEST_CASE("so does a device that is full, and one that was never open") {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  for (const int descriptor : {full.get(), 1'000'000}) {
    Passage passage(descriptor);
    passage.write("x");
    CHECK(passage.broken());
    CHECK_FALSE(passage.holds_something());
    passage.finish(0);
  }
}

TEST_CASE("a file holds nothing back") {
  Sink file;
  Passage passage(file.get());
  const std::string all(3 * kHeldMax, 'x');
  passage.write(all);
  CHECK_FALSE(passage.holds_something());
  CHECK(file.text() == all);
}

TEST_CASE("a socket is not waited for either") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const Descriptor ours(ends[0]), theirs(ends[1]);
  Passage passage(ours.get());
  passage.write(std::string(4 * kHeldMax, 'x'));
  CHECK(passage.holds_something());
  CHECK(passage.finish(0) > 0);
}

TEST_CASE("at the end it waits for the reader, but not for ever") {
  PipeEnds pipe;
  Passage passage(pipe.write.get());
  pipe.fill();
  passage.write("lost");
  CHECK(passage.finish(1) == 4);
  passage.write("held");
  pipe.drain();
  CHECK(passage.finish(60'000) == 0);
  CHECK(pipe.drain() == "held");
}

}  // namespace fq::test
