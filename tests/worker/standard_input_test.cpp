// standard_input_test - a payload as something that a job can read.

// fq, below us.
#include "core/worker/process/standard_input.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

struct stat about(const Descriptor& file) {
  struct stat found {};
  REQUIRE(::fstat(file.get(), &found) == 0);
  return found;
}
/// To its end, as a job reads it: nobody else must have it open for writing.
std::string read_to_end(const Descriptor& file) {
  std::string text, part(65'536, '\0');
  ssize_t got = 0;
  while ((got = ::read(file.get(), part.data(), part.size())) > 0) {
    text.append(part, 0, static_cast<size_t>(got));
  }
  CHECK(got == 0);
  return text;
}
std::string bytes_of_every_value(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

}  // namespace

TEST_CASE("a payload that fits into a pipe comes through one, a longer one from a file") {
  for (const size_t size : {1U, 4'096U, 65'536U, 65'537U, 3'000'000U}) {
    INFO(size << " bytes");
    const std::string bytes = bytes_of_every_value(size);
    const Descriptor input = std::move(readable(bytes)).value();
    CHECK(S_ISFIFO(about(input).st_mode) == (size <= 65'536));
    CHECK((::fcntl(input.get(), F_GETFL) & O_NONBLOCK) == 0);
    CHECK((::fcntl(input.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(read_to_end(input) == bytes);
  }
}

TEST_CASE("no payload is the end of the input at once") {
  const Descriptor input = std::move(readable(std::string_view())).value();
  CHECK(S_ISCHR(about(input).st_mode));
  CHECK(read_to_end(input) == "");
}

TEST_CASE("a payload in a file is read from its start each time, and cannot be written") {
  Sink file;
  REQUIRE(::write(file.get(), "payload", 7) == 7);
  const Payload payload(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0), 7);
  for (int run = 0; run < 2; ++run) {
    const Descriptor input = std::move(readable(payload)).value();
    CHECK(::write(input.get(), "x", 1) < 0);
    CHECK(read_to_end(input) == "payload");
  }
}

}  // namespace fq::test
