#include "core/base/text/counted.h"

#include "core/base/text/counted_lines.h"
#include "tests/catch.h"

namespace fq {

TEST_CASE("one is told without an s, none and many with one") {
  CHECK(counted(0, "record") == "0 records");
  CHECK(counted(1, "record") == "1 record");
  CHECK(counted(2, "record") == "2 records");
  CHECK(counted(1, "reply", "replies") == "1 reply");
  CHECK(counted(7, "piece of damage", "pieces of damage") == "7 pieces of damage");
}

TEST_CASE("of lines the first hundred are kept and all are counted") {
  CountedLines lines;
  CHECK(lines.empty());
  for (int i = 0; i < 100; ++i) lines.add(std::to_string(i));
  CHECK(lines.lines.size() == 100);
  lines.add("100");
  CHECK(lines.lines.size() == 100);
  CHECK(lines.lines.back() == "99");
  CHECK(lines.count == 101);
}

TEST_CASE("lines appended to others keep the count of what neither kept") {
  CountedLines causes;
  for (int i = 0; i < 60; ++i) causes.add("cause");
  CountedLines differences;
  for (int i = 0; i < 130; ++i) differences.add("difference");
  causes.append("more: ", differences);
  CHECK(causes.count == 190);
  CHECK(causes.lines.size() == 100);
  CHECK(causes.lines[59] == "cause");
  CHECK(causes.lines[60] == "more: difference");
}

}  // namespace fq
