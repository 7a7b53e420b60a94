// tagged_lines_test - whole lines, each with its tag, whatever the pieces are that they come in.
#include "core/worker/process/tagged_lines.h"
#include "tests/catch.h"

using namespace fq::worker;

TEST_CASE("a line goes on when it is whole, with its tag") {
  TaggedLines lines("7\ta\t");
  CHECK(lines.take("on").empty());
  CHECK(lines.take("e\ntwo\nth") == "7\ta\tone\n7\ta\ttwo\n");
  CHECK(lines.finish() == "7\ta\tth\n");
  CHECK(lines.finish().empty());
}

TEST_CASE("empty lines are lines") {
  TaggedLines lines("t ");
  CHECK(lines.take("\n\nx\n") == "t \nt \nt x\n");
  CHECK(lines.finish().empty());
}

TEST_CASE("a line that is too long goes on in parts, and nothing of it is lost") {
  constexpr size_t kMax = TaggedLines::kLineBytesMax;
  TaggedLines lines("t ");
  const std::string part(kMax, 'x');
  CHECK(lines.take(std::string(kMax - 1, 'x')).empty());
  CHECK(lines.take("xy") == "t " + part + "\n");
  CHECK(lines.take("z\n") == "t yz\n");
  CHECK(lines.take(part + part + "\n") == "t " + part + "\nt " + part + "\n");
}

TEST_CASE("without a tag bytes go on as they come") {
  TaggedLines lines;
  CHECK(lines.take("no end") == "no end");
  CHECK(lines.finish().empty());
}
