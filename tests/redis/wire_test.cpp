// wire_test - how a server is reached.

// System.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/descriptor.h"
#include "core/redis/wire/wire.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

/// A server that lets as few wait for it as it can, and takes none by itself.
class FullServer {
 public:
  FullServer() : path_("/tmp/fq-full." + std::to_string(::getpid())) {
    ::unlink(path_.c_str());
    REQUIRE(::bind(listener_.get(), address(), sizeof(sockaddr_un)) == 0);
    REQUIRE(::listen(listener_.get(), 0) == 0);
    while (is_room()) continue;
  }
  ~FullServer() { ::unlink(path_.c_str()); }

  Result<Wire> connect_within(int64_t connect_ms) const {
    RedisPlace place;
    place.socket = path_;
    place.connect_ms = connect_ms;
    return Wire::connect(place, nullptr);
  }
  /// The next that waits.
  Descriptor take() const { return Descriptor(::accept(listener_.get(), nullptr, nullptr)); }
  size_t waiting() const { return waiting_.size(); }

 private:
  const sockaddr* address() {
    address_.sun_family = AF_UNIX;
    path_.copy(address_.sun_path, sizeof address_.sun_path - 1);
    return reinterpret_cast<const sockaddr*>(&address_);
  }
  /// For one more, which waits from then on.
  bool is_room() {
    Descriptor one(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (::connect(one.get(), address(), sizeof(sockaddr_un)) != 0) return false;
    waiting_.push_back(std::move(one));
    return true;
  }

  std::string path_;
  sockaddr_un address_{};
  Descriptor listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::vector<Descriptor> waiting_;
};

}  // namespace

TEST_CASE("who comes to a server for which as many wait as it allows waits for its turn, within its time",
          "[threads]") {
  const FullServer server;
  const Result<Wire> late = server.connect_within(50);
  REQUIRE(!late.ok());
  CHECK(late.error().kind == ErrorKind::later);
  CHECK(late.error().text.find("cannot be reached: Connection timed out") != std::string::npos);
  auto coming = std::async(std::launch::async, [&] { return server.connect_within(60'000); });
  for (size_t i = 0; i < server.waiting(); ++i) server.take();
  const Descriptor taken = server.take();
  Result<Wire> wire = coming.get();
  REQUIRE(wire.ok());
  REQUIRE(wire->write("x", system_clock().boot_ms() + 5'000).ok());
  char byte = 0;
  CHECK(::recv(taken.get(), &byte, 1, 0) == 1);
}

}  // namespace fq::test
