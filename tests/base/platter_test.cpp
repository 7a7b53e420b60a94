// platter_test - which disks a power cut may leave: all that are legal and no other.
#include "tests/fakes/platter.h"

// System.
#include <set>
// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

constexpr const char* kGone = "(gone)";

/// Every content that file `name` may have after a power cut now.
std::set<std::string> possible(const Platter& platter, std::string_view name,
                               uint64_t piece_bytes = Platter::kSectorBytes) {
  const std::vector<Platter::Open> open = platter.open(piece_bytes);
  std::vector<uint32_t> outcomes(open.size(), 0);
  std::set<std::string> found;
  for (size_t i = 0; i <= open.size();) {
    const Platter left = platter.after_cut(open, outcomes, piece_bytes);
    const auto inode = left.find(name);
    found.insert(inode ? left.content(*inode) : kGone);
    for (i = 0; i < open.size() && ++outcomes[i] == open[i].outcomes; ++i) outcomes[i] = 0;
    if (i == open.size()) break;
  }
  return found;
}

std::string sector(char fill) { return std::string(Platter::kSectorBytes, fill); }

}  // namespace

TEST_CASE("what was synced is certain") {
  Platter platter;
  const uint64_t file = platter.create("a");
  platter.write(file, 0, "kept");
  CHECK(possible(platter, "a").count(kGone) == 1);
  platter.sync(file, true);
  platter.sync_directory("");
  CHECK(possible(platter, "a") == std::set<std::string>{"kept"});
  CHECK(platter.open().empty());
}

TEST_CASE("a sector written twice may be as before, as in between or as last") {
  Platter platter;
  platter.put("a", sector('0'));
  platter.write(*platter.find("a"), 0, "1");
  platter.write(*platter.find("a"), 1, "2");
  const std::string rest = sector('0').substr(2);
  CHECK(possible(platter, "a") == std::set<std::string>{"00" + rest, "10" + rest, "12" + rest});
}

TEST_CASE("sectors arrive each for itself, and together in larger pieces") {
  Platter platter;
  platter.put("a", sector('0') + sector('0'));
  platter.write(*platter.find("a"), 0, sector('1') + sector('1'));
  CHECK(possible(platter, "a").size() == 4);
  CHECK(possible(platter, "a", 4096).size() == 2);
}

TEST_CASE("a longer file may be as long as before, as what arrived, or as long as it was made") {
  Platter platter;
  platter.put("a", "");
  platter.write(*platter.find("a"), 0, sector('1') + sector('2'));
  const std::string zeros = sector('\0');
  CHECK(possible(platter, "a") == std::set<std::string>{"", sector('1'), zeros + sector('2'), zeros + zeros,
                                                        sector('1') + zeros, sector('1') + sector('2')});
  platter.set_stale_bytes("s");
  CHECK(possible(platter, "a").count(sector('s') + sector('2')) == 1);
}

TEST_CASE("after a failed sync only what is written anew is ever certain") {
  Platter platter;
  platter.put("a", sector('0') + sector('0'));
  const uint64_t file = *platter.find("a");
  platter.write(file, 0, sector('1') + sector('1'));
  platter.sync(file, false);
  platter.sync(file, true);
  CHECK(possible(platter, "a").size() == 4);
  platter.write(file, 0, sector('1'));
  platter.sync(file, true);
  CHECK(possible(platter, "a") ==
        std::set<std::string>{sector('1') + sector('0'), sector('1') + sector('1')});
}

TEST_CASE("a rename is there or not, and takes what lies below a directory along") {
  Platter platter;
  platter.make_directory("d");
  platter.put("d/a", "x");
  platter.settle();
  platter.rename("d", "e");
  CHECK(platter.find("e/a").has_value());
  CHECK(possible(platter, "d/a") == std::set<std::string>{"x", kGone});
  CHECK(possible(platter, "e/a") == std::set<std::string>{"x", kGone});
  platter.sync_directory("");
  CHECK(possible(platter, "d/a") == std::set<std::string>{kGone});
}

TEST_CASE("a removed file may come back, with what was written to it") {
  Platter platter;
  platter.put("a", "x");
  const uint64_t file = *platter.find("a");
  platter.remove("a");
  platter.write(file, 0, "y");
  CHECK(possible(platter, "a") == std::set<std::string>{"x", "y", kGone});
}

}  // namespace fq::test
