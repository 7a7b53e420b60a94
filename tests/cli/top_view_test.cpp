// top_view_test - what fq top shows for keys and counts, without a terminal.

// System.
#include <algorithm>
// fq, below us.
#include "cli/terminal/shown.h"
#include "cli/views/top/top_view.h"
#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

QueueStats stats_of(const std::string& queue, const std::vector<std::pair<std::string, uint64_t>>& tenants) {
  QueueStats stats{queue, {}};
  for (const auto& [tenant, ready] : tenants) {
    StatsRow row;
    row.tenant = tenant;
    row.ready = ready;
    row.oldest_ready_s = 100 - static_cast<double>(ready);
    stats.stats.rows.push_back(row);
  }
  return stats;
}

Screen screen_with(size_t columns, size_t rows, bool colour = false) {
  return {.columns = columns, .rows = rows, .colour = colour, .utf8 = false, .moves = true};
}

/// The lines of a frame, without what moves the cursor.
std::vector<std::string> screen_lines_of(std::string frame) {
  std::string plain;
  for (size_t i = 0; i < frame.size(); ++i) {
    if (frame[i] != '\x1b') {
      plain += frame[i];
      continue;
    }
    while (i < frame.size() && std::isalpha(static_cast<unsigned char>(frame[i])) == 0) ++i;
  }
  std::vector<std::string> lines;
  for (size_t at = 0;;) {
    const size_t end = plain.find('\n', at);
    lines.push_back(plain.substr(at, end - at));
    if (end == std::string::npos) return lines;
    at = end + 1;
  }
}

std::string chosen(const TopView& view) { return view.chosen() == nullptr ? "" : view.chosen()->row.tenant; }

TopView view_of(const std::vector<std::pair<std::string, uint64_t>>& tenants) {
  TopView view;
  view.show({stats_of("q", {{"", 1}})}, {stats_of("q", tenants)});
  return view;
}

}  // namespace

TEST_CASE("keys are told apart, whatever comes at once") {
  using enum TopKey;
  CHECK(top_keys("jk") == std::vector{down, up});
  CHECK(top_keys("\x1b[A\x1bOBq") == std::vector{up, down, quit});
  CHECK(top_keys("\x1b[5~\x1b[6~\x1b[1~\x1b[F") == std::vector{page_up, page_down, first, last});
  CHECK(top_keys("\x1b[200~K\x1b[1;5Cy") == std::vector{none, kick, none, yes});
  CHECK(top_keys("\x1b") == std::vector{none});
  CHECK(top_keys("\x1b[") == std::vector{none});
  CHECK(top_keys("\xff\x01") == std::vector{none, none});
  CHECK(top_keys("").empty());
}

TEST_CASE("who is chosen stays so wherever it moves to") {
  TopView view = view_of({{"a", 1}, {"b", 2}, {"c", 3}});
  CHECK(chosen(view) == "a");
  view.take(TopKey::down);
  CHECK(chosen(view) == "b");
  view.show({}, {stats_of("q", {{"a", 9}, {"b", 1}, {"c", 3}})});  // b waits longest now
  CHECK(chosen(view) == "b");
  view.take(TopKey::down);
  CHECK(chosen(view) == "c");
  view.show({}, {stats_of("q", {{"a", 9}, {"b", 1}})});  // it is gone: who is in its place
  CHECK(chosen(view) == "a");
  view.show({}, {});
  CHECK(view.chosen() == nullptr);
  view.take(TopKey::down);
  view.take(TopKey::last);
  CHECK(view.chosen() == nullptr);
  CHECK(screen_lines_of(view.frame(screen_with(80, 24))).size() == 24);
}

TEST_CASE("the same name in another queue is another tenant") {
  TopView view;
  view.show({}, {stats_of("p", {{"a", 1}}), stats_of("q", {{"a", 5}})});
  view.take(TopKey::down);
  REQUIRE(view.chosen() != nullptr);
  CHECK(view.chosen()->queue == "q");
  view.show({}, {stats_of("p", {{"a", 5}}), stats_of("q", {{"a", 1}})});
  CHECK(view.chosen()->queue == "q");
}

TEST_CASE("moving ends at both ends, and sorting begins at the top") {
  TopView view = view_of({{"a", 1}, {"b", 2}, {"c", 3}});
  view.take(TopKey::up);
  CHECK(chosen(view) == "a");
  view.take(TopKey::last);
  CHECK(chosen(view) == "c");
  view.take(TopKey::down);
  CHECK(chosen(view) == "c");
  view.take(TopKey::order);
  CHECK(chosen(view) == "c");  // most ready
  for (int i = 0; i < 4; ++i) view.take(TopKey::order);
  CHECK(chosen(view) == "a");  // by name
}

TEST_CASE("a frame is as high as the screen and never wider") {
  std::vector<std::pair<std::string, uint64_t>> tenants;
  for (uint64_t i = 0; i < 200; ++i)
    tenants.emplace_back("a-tenant-with-a-long-name-" + std::to_string(i), i);
  TopView view = view_of(tenants);
  for (const size_t columns : {40u, 60u, 80u, 200u}) {
    for (const size_t rows : {5u, 10u, 24u, 60u}) {
      view.take(rows == 10 ? TopKey::last : TopKey::page_up);
      const std::vector<std::string> lines =
          screen_lines_of(view.frame(screen_with(columns, rows, rows == 24)));
      INFO(columns << " x " << rows);
      CHECK(lines.size() == rows);
      for (const std::string& line : lines) CHECK(columns_of(line) <= columns);
    }
  }
}

TEST_CASE(
    "tenants of several queues are told with their queue, however narrow the screen and long the names") {
  TopView view;
  const std::string name = "a-name-that-is-longer-than-most-of-them";
  view.show({}, {stats_of("mail-" + name, {{name, 10'000'000}}), stats_of("other-" + name, {{name, 5}})});
  for (const size_t columns : {40u, 60u, 80u, 200u}) {
    for (const bool colour : {false, true}) {
      const std::vector<std::string> lines = screen_lines_of(view.frame(screen_with(columns, 24, colour)));
      INFO(columns);
      CHECK(lines.at(1).starts_with(colour ? "QUEUE " : " QUEUE "));
      CHECK(lines.at(1).find(" TENANT ") != std::string::npos);
      CHECK(lines.at(1).find(" READY") != std::string::npos);
      const auto told = [&](const std::string& queue) {
        return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
          return line.find(queue) <= 1 && line.find(" a-") != std::string::npos;
        });
      };
      CHECK(told("ma") == 1);
      CHECK(told("ot") == 1);
      for (const std::string& line : lines) CHECK(columns_of(line) <= columns);
    }
  }
}

TEST_CASE("a single queue is not told in each line where the screen is narrow") {
  TopView view = view_of({{"a-name-that-is-longer-than-most-of-them", 1}});
  const std::vector<std::string> lines = screen_lines_of(view.frame(screen_with(40, 24)));
  CHECK(std::count_if(lines.begin(), lines.end(),
                      [](const std::string& line) { return line.starts_with(" TENANT "); }) == 1);
  CHECK_FALSE(view.several_queues());
}

TEST_CASE("the chosen one is always on the screen") {
  std::vector<std::pair<std::string, uint64_t>> tenants;
  for (uint64_t i = 0; i < 90; ++i) tenants.emplace_back("t" + std::to_string(i), i);
  TopView view = view_of(tenants);
  for (const TopKey key : {TopKey::page_down, TopKey::page_down, TopKey::up, TopKey::last, TopKey::page_up,
                           TopKey::first, TopKey::down}) {
    view.take(key);
    const std::vector<std::string> lines = screen_lines_of(view.frame(screen_with(80, 20)));
    const auto marked = std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.starts_with(">q ") && line.find(" " + chosen(view) + " ") != std::string::npos;
    });
    CHECK(marked == 1);
  }
}

TEST_CASE("without colours the chosen one stands in line with the others, and who is parked has a word") {
  QueueStats tenants = stats_of("q", {{"a", 1}, {"b", 2}});
  tenants.stats.rows[1].blocked = Reason::Kind::paused;
  TopView view;
  view.show({}, {tenants});
  const std::vector<std::string> lines = screen_lines_of(view.frame(screen_with(100, 10)));
  CHECK(lines.at(1).starts_with(" QUEUE  TENANT "));
  CHECK(lines.at(2).starts_with(">q      a "));
  CHECK(lines.at(3).starts_with(" q      b "));
  CHECK(lines.at(1).ends_with("  STATE"));
  CHECK(lines.at(2).find("paused") == std::string::npos);
  CHECK(lines.at(3).ends_with("  paused"));
}

TEST_CASE("held messages and what a queue does are shown where there are any") {
  QueueStats tenants = stats_of("q", {{"a", 1}}), queue = stats_of("q", {{"", 1}});
  const auto text = [&] {
    TopView view;
    view.show({queue}, {tenants});
    return view.frame(screen_with(200, 10));
  };
  CHECK(text().find("HELD") == std::string::npos);
  CHECK(text().find("STATE") == std::string::npos);
  tenants.stats.rows[0].held = queue.stats.rows[0].held = 7;
  queue.stats.rows[0].paused = true;
  CHECK(text().find("HELD") != text().rfind("HELD"));
  CHECK(text().find("  paused") != std::string::npos);
  queue.stats.rows[0].draining = true;
  CHECK(text().find("  paused, draining") != std::string::npos);
}

TEST_CASE("of many queues those with something to do are shown, and how many more there are") {
  std::vector<QueueStats> queues;
  for (int i = 10; i < 70; ++i) queues.push_back(stats_of("queue-" + std::to_string(i), {{"", 0}}));
  queues[50].stats.rows[0].ready = 3;
  queues[55].stats.rows[0].dead = 2;
  queues[40].stats.rows[0].leased = 1;
  TopView view;
  view.show(queues, {});
  const std::vector<std::string> lines = screen_lines_of(view.frame(screen_with(80, 24)));
  CHECK(lines.at(1).starts_with("queue-65 "));
  CHECK(lines.at(2).starts_with("queue-60 "));
  CHECK(lines.at(3).starts_with("queue-50 "));
  CHECK(lines.at(4).starts_with("queue-10 "));
  CHECK(lines.at(7) == "and 54 more queues: 0 ready, 0 leased, 0 dead");
  CHECK(lines.at(8).empty());
  queues.resize(7);
  view.show(queues, {});
  const std::vector<std::string> all = screen_lines_of(view.frame(screen_with(80, 24)));
  CHECK(all.at(7).starts_with("queue-16 "));  // by name, where all have a place
}

TEST_CASE("what is below a tenant is asked for with it, of its own queue only") {
  QueueStats p = stats_of("p", {{"acct", 1}, {"acct/x", 2}, {"acct/x/y", 3}, {"acct2", 4}});
  QueueStats q = stats_of("q", {{"acct/x", 1}});
  for (QueueStats* each : {&p, &q}) {
    for (StatsRow& row : each->stats.rows) row.dead = row.tenant == "acct" ? 0 : 1;
  }
  TopView view;
  view.show({}, {p, q});
  REQUIRE(view.chosen() != nullptr);
  CHECK(view.chosen()->row.tenant == "acct");
  CHECK(view.dead_below(*view.chosen()) == 2);
}

TEST_CASE("names as long as they may be never wrap a line, and what tells them apart is seen") {
  const std::string queue(64, 'q');
  QueueStats of_queue = stats_of(queue + "1", {{"", 1'000'000}});
  TopView view;
  view.show(
      {of_queue, stats_of(queue + "2", {{"", 1}})},
      {stats_of(queue + "1", {{"customer-" + std::string(200, 'x') + "-000123", 1}}), stats_of("q", {})});
  for (size_t columns = 20; columns < 320; ++columns) {
    const std::string frame = view.frame(screen_with(columns, 24));
    INFO(columns);
    for (const std::string& line : screen_lines_of(frame)) CHECK(columns_of(line) <= columns);
    if (columns < 30) continue;  // nothing but ends of names and counts
    CHECK(screen_lines_of(frame).at(0).starts_with("QUEUE "));
    CHECK(frame.find("q1 ") != std::string::npos);
    CHECK(frame.find("q2 ") != std::string::npos);
    CHECK(frame.find("3 ") != std::string::npos);
  }
}

TEST_CASE("help fits a narrow screen, and any key leads back from it and does nothing else") {
  TopView view = view_of({{"alpha", 3}, {"beta", 1}});
  const std::string before = chosen(view);
  for (const TopKey key : {TopKey::none, TopKey::down, TopKey::order, TopKey::help}) {
    view.take(TopKey::help);
    CHECK(view.helps());
    for (const size_t columns : {20U, 40U, 80U}) {
      const std::string frame = view.frame(screen_with(columns, 24));
      CHECK(screen_lines_of(frame).at(0).starts_with("fq top: every queue"));
      for (const std::string& line : screen_lines_of(frame)) CHECK(line.size() <= columns);
    }
    // Words of a line that is too long go on in the next one.
    std::string words;
    for (const std::string& line : screen_lines_of(view.frame(screen_with(40, 60))))
      words.append(line.substr(std::min(line.find_first_not_of(' '), line.size()))).append(" ");
    for (const char* const each : {"and back", "PgDn", "y does it", "or back", "given lately"})
      CHECK(words.find(each) != std::string::npos);
    view.take(key);
    CHECK(!view.helps());
    CHECK(chosen(view) == before);
    CHECK(view.frame(screen_with(80, 24)).find("s sort: waiting") != std::string::npos);
  }
}

TEST_CASE("help is shown whole on a small screen too, a part at each key") {
  TopView view = view_of({{"alpha", 3}});
  view.take(TopKey::help);
  std::string all;
  int parts = 0;
  for (; view.helps() && parts < 9; ++parts) {
    const std::vector<std::string> lines = screen_lines_of(view.frame(screen_with(60, 10)));
    CHECK(lines.size() < 10);
    for (const std::string& line : lines)
      all.append(line.substr(std::min(line.find_first_not_of(' '), line.size()))).append(" ");
    const bool is_last = all.find("may not be served now") != std::string::npos;
    CHECK((lines.back().find("more, by any key but q") == std::string::npos) == is_last);
    view.take(TopKey::none);
    CHECK(view.helps() != is_last);
  }
  CHECK(parts == 4);
  for (const char* const each : {"Tab", "PgDn", "y does it", "or back", "q, Ctrl-C", "given lately"})
    CHECK(all.find(each) != std::string::npos);
  view.take(TopKey::help);
  CHECK(screen_lines_of(view.frame(screen_with(60, 10))).at(0).starts_with("fq top: every queue"));
}

TEST_CASE("hostile names and notices come out escaped") {
  TopView view = view_of({{"\x1b[2Jboo\xe2\x80\xae", 1}});
  view.say("fq: '\x1b[31mred\n' is paused");
  const std::string frame = view.frame(screen_with(80, 24));
  CHECK(frame.find("\x1b[2J") == std::string::npos);
  CHECK(frame.find("\x1b[31m") == std::string::npos);
  CHECK(frame.find("\xe2\x80\xae") == std::string::npos);
  CHECK(frame.find("boo") != std::string::npos);
  CHECK(screen_lines_of(frame).size() == 24);
}
