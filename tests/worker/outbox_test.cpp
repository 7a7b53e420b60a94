// outbox_test - lines on their way to a command that may be slow to read them.

// System.
#include <random>
// fq, below us.
#include "core/worker/process/outbox.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

std::string line_of(size_t number, size_t bytes) {
  std::string line = std::to_string(number) + " ";
  line.resize(std::max(bytes, line.size()), 'x');
  return line + "\n";
}

}  // namespace

TEST_CASE("a slow reader gets every byte, in order") {
  std::mt19937 random(Catch::rngSeed());
  PipeEnds pipe;
  Outbox outbox;
  std::string sent, got;
  for (size_t number = 0; number < 500; ++number) {
    const std::string line = line_of(number, random() % 20'000);
    outbox.add(std::to_string(number), line);
    sent += line;
    REQUIRE(outbox.write_to(pipe.write.get()));
    if (random() % 8 == 0) got += pipe.drain();
  }
  while (!outbox.empty()) {
    got += pipe.drain();
    REQUIRE(outbox.write_to(pipe.write.get()));
  }
  got += pipe.drain();
  CHECK(got == sent);
  CHECK(outbox.take_back().empty());
}

TEST_CASE("what is not begun can be taken back, wherever the reader stands") {
  for (const size_t line_bytes : {1U, 100U, 30'000U, 65'535U, 100'000U}) {
    for (const size_t drains : {0U, 1U, 2U, 5U}) {
      INFO(line_bytes << " bytes, " << drains << " times read");
      PipeEnds pipe;
      Outbox outbox;
      std::string sent, got;
      for (size_t number = 0; number < 20; ++number) {
        outbox.add(std::to_string(number), line_of(number, line_bytes));
        sent += line_of(number, line_bytes);
      }
      outbox.write_to(pipe.write.get());
      for (size_t i = 0; i < drains; ++i) {
        got += pipe.drain();
        outbox.write_to(pipe.write.get());
      }
      const std::vector<std::string> back = outbox.take_back();
      while (!outbox.empty()) {
        got += pipe.drain();
        outbox.write_to(pipe.write.get());
      }
      got += pipe.drain();
      const auto lines = static_cast<size_t>(std::count(got.begin(), got.end(), '\n'));
      CHECK(got == sent.substr(0, got.size()));
      CHECK((got.empty() || got.back() == '\n'));
      CHECK(lines + back.size() == 20);
      for (size_t i = 0; i < back.size(); ++i) CHECK(back[i] == std::to_string(lines + i));
    }
  }
}

TEST_CASE("nothing is begun where nothing could be written") {
  PipeEnds pipe;
  pipe.fill();
  Outbox outbox;
  outbox.add("a", "line\n");
  REQUIRE(outbox.write_to(pipe.write.get()));
  CHECK(outbox.take_back() == std::vector<std::string>{"a"});
  CHECK(outbox.empty());
}

TEST_CASE("there is room until a megabyte is unwritten, and again when some of it is written") {
  PipeEnds pipe;
  Outbox outbox;
  outbox.add("a", std::string(Outbox::kHeldBytesMax - 1, 'x'));
  CHECK(outbox.has_room());
  outbox.add("b", "x");
  CHECK_FALSE(outbox.has_room());
  outbox.write_to(pipe.write.get());
  CHECK(outbox.has_room());
}

TEST_CASE("it is known when nobody reads any more") {
  const NoPipeSignal ignored;
  PipeEnds pipe;
  pipe.read.close();
  Outbox outbox;
  outbox.add("a", "line\n");
  CHECK_FALSE(outbox.write_to(pipe.write.get()));
}

}  // namespace fq::test
