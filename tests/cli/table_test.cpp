// table_test - names are cut to what is free, and stay whole characters, whole escapes and different.

// fq, below us.
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"
#include "tests/catch.h"

using namespace fq::cli;

namespace {

/// A name, a number and one that can be spared.
Table names_table(const std::vector<std::string>& names) {
  Table table({0});
  table.spare({2});
  table.shorten({0}, 8);
  table.row({"NAME", "READY", "SPARE"});
  for (const std::string& name : names) table.row({name, "1234567", "12345"});
  return table;
}

std::vector<std::string> lines_at(size_t columns, const std::vector<std::string>& names) {
  return names_table(names).lines({.columns = columns});
}

}  // namespace

TEST_CASE("a text is cut in the middle, to no more columns than there are") {
  CHECK(cut_middle("customer-000123", 15) == "customer-000123");
  CHECK(cut_middle("customer-000123", 14) == "custo...000123");
  CHECK(cut_middle("customer-000123", 8) == "cu...123");
  CHECK(cut_middle("customer", 4) == "cuer");
  CHECK(cut_middle("customer", 1) == "r");
  CHECK(cut_middle("customer", 0) == "");
  CHECK(cut_middle("", 3) == "");
}

TEST_CASE("contents are cut at their end") {
  CHECK(cut_end("customer-000123", 15) == "customer-000123");
  CHECK(cut_end("customer-000123", 14) == "customer-00...");
  CHECK(cut_end("customer", 4) == "cust");
  CHECK(cut_end("customer", 0) == "");
  Table table({0, 1});
  table.shorten({0}, 8);
  table.crop({1});
  table.row({"NAME", "CONTENTS"});
  table.row({"acme/department-12", "the same beginning of 1"});
  table.row({"acme/department-13", "the same beginning of 2"});
  CHECK(table.text() ==
        "NAME                CONTENTS\n"
        "acme/department-12  the same beginning of 1\n"
        "acme/department-13  the same beginning of 2\n");
  CHECK(table.text({.columns = 30}) ==
        "NAME            CONTENTS\n"
        "acme/...ent-12  the same be...\n"
        "acme/...ent-13  the same be...\n");
}

TEST_CASE("contents that were cut before have their dots once") {
  Table table({0, 1, 2});
  table.shorten({0}, 8);
  table.crop({1, 2});
  table.row({"NAME", "WHY", "CONTENTS"});
  table.row({"acme", "message 1 ended un...", "payload with more words..."});
  CHECK(table.text({.columns = 26}) ==
        "NAME  WHY        CONTENTS\n"
        "acme  messag...  payloa...\n");
}

TEST_CASE("neither a wide character nor an accent nor an escape is taken apart") {
  const std::string wide = "\xe6\xb5\x8b\xe6\xb5\x8b\xe6\xb5\x8b\xe6\xb5\x8b\xe6\xb5\x8b\xe6\xb5\x8b";
  const std::string accents =
      "e\xcc\x81"
      "e\xcc\x81"
      "e\xcc\x81"
      "e\xcc\x81"
      "e\xcc\x81"
      "e\xcc\x81"
      "e\xcc\x81";
  const std::string escapes = "a\\u{202e}b\\x1bc\\\\d\\ne\\u{202e}f";
  CHECK(cut_middle(wide, 8) == "\xe6\xb5\x8b...\xe6\xb5\x8b");
  CHECK(cut_middle(accents, 6) ==
        "e\xcc\x81...e\xcc\x81"
        "e\xcc\x81");
  CHECK(cut_middle(escapes, 21) == "a\\u{202e}...\\u{202e}f");
  CHECK(cut_middle(escapes, 20) == "a...\\u{202e}f");
  for (const std::string& text : {wide, accents, escapes}) {
    for (size_t columns = 0; columns < 40; ++columns) {
      INFO(text << " " << columns);
      CHECK(columns_of(cut_middle(text, columns)) <= columns);
    }
  }
  CHECK(cut_middle("\\u{202e", 3) == "");  // no escape of ours: no end, and nothing is read behind it
}

TEST_CASE("names get what is free, and are cut before a column is left out") {
  const std::vector<std::string> names = {"a-name-of-twenty-one.", "b"};
  CHECK(lines_at(100, names)[1] == "a-name-of-twenty-one.  1234567  12345");
  CHECK(lines_at(37, names)[1] == "a-name-of-twenty-one.  1234567  12345");
  CHECK(lines_at(36, names)[1] == "a-name-o...enty-one.  1234567  12345");
  CHECK(lines_at(24, names)[1] == "a-...ne.  1234567  12345");
  CHECK(lines_at(23, names)[1] == "a-nam...y-one.  1234567");
  CHECK(lines_at(14, names)[1] == "a....  1234567");
  CHECK(names_table(names).lines({})[1] == "a-name-of-twenty-one.  1234567  12345");  // into a pipe
}

TEST_CASE("a column is left out when names would look the same without that, and only if it helps") {
  const std::vector<std::string> names = {"customer-0001/eu", "customer-0002/eu"};
  CHECK(lines_at(25, names)[1] == "customer-0001/eu  1234567");
  CHECK(lines_at(22, names)[1] == "custo...01/eu  1234567");
  CHECK(lines_at(25, {"customer-0001/eu", "b"})[1] == "cus.../eu  1234567  12345");
  const std::string front(40, 'f'), end(40, 'e');
  CHECK(lines_at(25, {front + "1" + end, front + "2" + end})[1] == "fff...eee  1234567  12345");
}

TEST_CASE("of two columns of names the short one leaves the long one its room") {
  Table table({0, 1});
  table.shorten({0, 1}, 4);
  table.row({"QUEUE", "TENANT"});
  table.row({"q", "a-tenant-with-a-long-name"});
  CHECK(table.lines({.columns = 24})[1] == "q      a-tenan...ng-name");
}

TEST_CASE("a hidden column is not there and takes no room") {
  Table table = names_table({"x"});
  table.hide({1});
  CHECK(table.lines({.columns = 11})[1] == "x     12345");
  CHECK(table.lines({.columns = 11})[0] == "NAME  SPARE");
}
