// result_test - values, errors, and how they are passed up.
#include "core/base/result.h"

// System.
#include <cerrno>
#include <memory>
#include <string>
// Tests.
#include "tests/catch.h"

namespace fq {

namespace {

Error some_error() { return Error{ErrorKind::missing, "queue 'x': is not there", 0}; }

Result<int> half(int n) {
  if (n % 2 != 0) return some_error();
  return n / 2;
}

Result<std::string> quarter(int n) {
  FQ_TRY_SET(const int once, half(n));
  FQ_TRY_SET(const int twice, half(once));
  return std::to_string(twice);
}

Result<void> needs_even(int n, int& reached) {
  FQ_TRY(half(n));
  ++reached;
  return {};
}

}  // namespace

TEST_CASE("a result holds its value") {
  const Result<int> result = half(8);
  REQUIRE(result.ok());
  CHECK(*result == 4);
}

TEST_CASE("a result holds its error") {
  const Result<int> result = half(7);
  REQUIRE(!result);
  CHECK(result.error().kind == ErrorKind::missing);
  CHECK(result.error().text == "queue 'x': is not there");
}

TEST_CASE("FQ_TRY_SET keeps a value and passes an error up") {
  CHECK(quarter(8).value() == "2");
  CHECK(quarter(6).error().text == "queue 'x': is not there");
}

TEST_CASE("FQ_TRY goes on after a success and leaves after an error") {
  int reached = 0;
  CHECK(needs_even(2, reached).ok());
  CHECK(!needs_even(3, reached).ok());
  CHECK(reached == 1);
}

TEST_CASE("a result moves what cannot be copied") {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  CHECK(*taken == 5);
}

TEST_CASE("errno becomes a kind and a line that names the object") {
  const Error full = sys_error("write", "journal/7.fqj", ENOSPC);
  CHECK(full.kind == ErrorKind::later);
  CHECK(full.text == "journal/7.fqj: write: No space left on device");
  CHECK(full.sys == ENOSPC);
  CHECK(sys_error("open", "lock", EACCES).kind == ErrorKind::denied);
  CHECK(sys_error("fdatasync", "journal/7.fqj", EIO).kind == ErrorKind::io);
  for (const int sys : {EDQUOT, EMFILE, ENFILE, ENOMEM, EFBIG}) {
    CHECK(sys_error("open", "lock", sys).kind == ErrorKind::later);
  }
}

}  // namespace fq
