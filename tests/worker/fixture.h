// fixture - what a job or a stream needs around it, without a queue; and what was told to people.
#pragma once

// System.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>
// fq, below us.
#include "core/worker/jobs/job.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

using namespace fq::worker;

/// A file in memory that can be looked into.
class Sink {
 public:
  Sink() : file_(::memfd_create("sink", MFD_CLOEXEC)) {}
  int get() const { return file_.get(); }
  std::string text() const {
    std::string bytes(static_cast<size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    REQUIRE(::pread(file_.get(), bytes.data(), bytes.size(), 0) == ssize_t(bytes.size()));
    return bytes;
  }

 private:
  Descriptor file_;
};

/// As in a worker: a reader that left is an error code and no signal.
struct NoPipeSignal {
  NoPipeSignal() : before(::signal(SIGPIPE, SIG_IGN)) {}
  ~NoPipeSignal() { ::signal(SIGPIPE, before); }
  sighandler_t before;
};

struct PipeEnds {
  PipeEnds() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
  /// Fills what is left of it; how much that was.
  size_t fill() const {
    size_t filled = 0;
    while (::write(write.get(), "x", 1) == 1) ++filled;
    return filled;
  }
  std::string drain() const {
    std::string text, part(65'536, '\0');
    for (ssize_t got; (got = ::read(read.get(), part.data(), part.size())) > 0;) {
      text.append(part, 0, static_cast<size_t>(got));
    }
    return text;
  }
  Descriptor read, write;
};

inline Delivery delivery(uint64_t id, const std::string& tenant = "a", int64_t pushed_at_wall_ms = 0) {
  Delivery one;
  one.id = MessageId{id};
  one.receipt = Receipt(std::to_string(id) + ".1");
  one.tenant = tenant;
  one.attempt = 1;
  one.attempts_max = 5;
  one.pushed_at_wall_ms = pushed_at_wall_ms;
  return one;
}
inline Arrival arrival(uint64_t id, const std::string& tenant = "a", int64_t pushed_at_wall_ms = 0) {
  return {delivery(id, tenant, pushed_at_wall_ms), nullptr};
}
/// "3 1 2": the messages of a load, in its order.
inline std::string ids_of(const Load& load) {
  std::string ids;
  for (const Arrival& each : load.arrivals) {
    ids += (ids.empty() ? "" : " ") + std::to_string(number(each.delivery.id));
  }
  return ids;
}

/// A worker's surroundings. What is said lies in `err`, a line each.
struct Surroundings {
  explicit Surroundings(Options asked) : options(std::move(asked)), environment(options) {
    voice.spoken = [](std::string_view text) { return std::string(text) + "\n"; };
    voice.line_start = [] { return std::string(); };
    voice.line = [](const std::string&, const Delivery& one) {
      return Result<std::string>(one.receipt.text() + "\n");
    };
  }
  Workshop shop() { return {options, voice, environment, out, err, settings}; }

  Options options;
  Voice voice;
  Environment environment;
  Settings settings;
  Sink out_file, err_file;
  Passage out{out_file.get()}, err{err_file.get()};
};

}  // namespace fq::test
