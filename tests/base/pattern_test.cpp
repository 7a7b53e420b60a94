#include "core/base/text/pattern.h"
#include "tests/catch.h"

namespace fq::test {

TEST_CASE("a star stands for anything that has no slash in it") {
  CHECK(pattern_matches("*", "mail"));
  CHECK(pattern_matches("*", ""));
  CHECK(pattern_matches("ma*", "mail"));
  CHECK(pattern_matches("*i*", "mail"));
  CHECK(pattern_matches("m*a*l", "mail"));
  CHECK_FALSE(pattern_matches("m*x", "mail"));
  CHECK_FALSE(pattern_matches("mai", "mail"));
  CHECK_FALSE(pattern_matches("*", "a/b"));
  CHECK(pattern_matches("*/*", "a/b"));
}

}  // namespace fq::test
