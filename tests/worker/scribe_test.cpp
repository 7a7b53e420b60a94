// scribe_test - the output of jobs goes on to a server by another thread: no call waits, nothing is lost, and
// what waits has a bound.

// System.
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <thread>
// fq, below us.
#include "core/worker/jobs/scribe.h"
// Tests.
#include "tests/catch.h"
#include "tests/worker/far_run.h"

namespace fq::test {

namespace {

using worker::Scribe;

/// A run that is lent to a scribe.
struct LentFixture {
  LentFixture() { lend(); }
  void lend(uint64_t bytes_max = UINT64_MAX) {
    run = scribe->lend(std::make_shared<FarRun>(server), bytes_max);
  }
  /// Until it is so; false: not within 20 s.
  template <class Fits>
  bool await(const Fits& fits) {
    for (int i = 0; i < 20'000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (fits()) return true;
    }
    return false;
  }
  bool is_closed() {
    return await([this] { return run->is_closed(); });
  }

  FarServer server;
  std::optional<Scribe> scribe{std::in_place};
  std::shared_ptr<RunOutput> run;
};

}  // namespace

TEST_CASE("while a server does not answer no call waits, and a run has a bounded room", "[threads]") {
  LentFixture f;
  f.server.answer(false);
  REQUIRE(f.run->open().ok());
  const std::string piece(Scribe::kRoomBytes / 4, 'x');
  for (int i = 0; i < 4; ++i) {
    CHECK(f.run->has_room(Channel::out));
    f.run->write(Channel::out, piece);
  }
  CHECK_FALSE(f.run->has_room(Channel::out));
  CHECK(f.run->has_room(Channel::err));
  f.run->write(Channel::out, "and more, of who does not ask");
  f.run->close();
  CHECK_FALSE(f.run->is_closed());
  f.server.answer(true);
  REQUIRE(f.is_closed());
  CHECK(f.run->has_room(Channel::out));
  CHECK(f.server.heard() == "open out close");
  CHECK(f.server.text() == piece + piece + piece + piece + "and more, of who does not ask");
  CHECK(f.run->kept_bytes(Channel::out) == f.server.text().size());
  CHECK(f.run->fault() == "");
}

TEST_CASE("what a run is told goes on in its order, and a run that is left is closed", "[threads]") {
  LentFixture f;
  REQUIRE(f.run->open().ok());
  f.run->write(Channel::err, "one");
  REQUIRE(f.await([&] { return f.server.text() == "one"; }));
  f.run->write(Channel::out, "two");
  f.run.reset();
  f.scribe.reset();
  CHECK(f.server.heard() == "open err out close leave");
  CHECK(f.server.text() == "onetwo");
}

TEST_CASE("a job whose caller has not read waits until the server says that it has", "[threads]") {
  LentFixture f;
  f.server.have_room(false);
  REQUIRE(f.run->open().ok());
  CHECK(f.run->has_room(Channel::out));
  f.run->write(Channel::out, "long");
  REQUIRE(f.await([&] { return !f.run->has_room(Channel::out); }));
  f.server.have_room(true);
  CHECK(f.await([&] { return f.run->has_room(Channel::out); }));
}

TEST_CASE("of a run that cannot be opened the beginning is kept, and why is said", "[threads]") {
  LentFixture f;
  f.server.refuse_to_open();
  f.server.answer(false);
  REQUIRE(f.run->open().ok());
  const std::string begin(Scribe::kBeginBytes - 1, 'b');
  f.run->write(Channel::out, begin);
  f.run->write(Channel::err, "err");
  f.server.answer(true);
  REQUIRE(f.await([&] { return !f.run->fault().empty(); }));
  CHECK(f.run->fault() == "the server is full");
  CHECK(f.run->has_room(Channel::out));
  f.run->write(Channel::out, "xyz");
  f.run->close();
  REQUIRE(f.is_closed());
  CHECK(f.server.heard() == "open");
  CHECK(f.run->kept_bytes(Channel::out) == Scribe::kBeginBytes);
  CHECK(f.run->gap(Channel::out) == Gap{Scribe::kBeginBytes, 2});
  CHECK(f.run->gap(Channel::err) == Gap{});
  std::string kept(Scribe::kBeginBytes, '\0');
  REQUIRE(f.run->read_kept(Channel::out, 0, std::as_writable_bytes(std::span(kept))).ok());
  CHECK(kept == begin + "x");
}

TEST_CASE("of a run that cannot be opened no more is kept than of another", "[threads]") {
  LentFixture f;
  f.lend(10);
  f.server.refuse_to_open();
  REQUIRE(f.run->open().ok());
  f.run->write(Channel::out, "0123456789abc");
  f.run->close();
  REQUIRE(f.is_closed());
  CHECK(f.run->kept_bytes(Channel::out) == 10);
  CHECK(f.run->gap(Channel::out) == Gap{10, 3});
}

TEST_CASE("a run that was never opened is nobody's business", "[threads]") {
  LentFixture f;
  f.run.reset();
  f.scribe.reset();
  CHECK(f.server.heard() == "");
}

TEST_CASE("what a scribe has not passed on when it is abandoned is not waited for", "[threads]") {
  LentFixture f;
  f.server.answer(false);
  REQUIRE(f.run->open().ok());
  f.run->write(Channel::out, "late");
  f.run->close();
  f.scribe->abandon();
  f.server.answer(true);
  f.scribe.reset();
  f.run.reset();
  CHECK(f.server.heard().find("leave") == std::string::npos);
}

}  // namespace fq::test
