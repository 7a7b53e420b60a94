// stats_format_test - the counts for machines: what comes out is theirs to read, whatever is in a name.

// fq, below us.
#include "cli/views/stats/stats_view.h"
#include "core/base/text/utf8.h"
#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

std::vector<QueueStats> stats_of(const std::vector<std::string>& tenants) {
  QueueStats stats{"q", {}};
  for (const std::string& tenant : tenants) {
    StatsRow& row = stats.stats.rows.emplace_back();
    row.tenant = tenant;
    row.ready = 18'446'744'073'709'551'615U;
    row.share = 1.0 / 3;
    row.oldest_ready_s = 12.5;
    row.wait_ms = {.count = 1, .p50 = 1'500, .p90 = 1'500, .p99 = 1'500, .max = 1'500};
  }
  return {stats};
}

template <class Write>
std::string written(Write&& write, const std::vector<QueueStats>& stats) {
  std::string text;
  REQUIRE(write(stats, true, [&](std::string_view piece) -> Result<void> {
            text += piece;
            return {};
          }).ok());
  return text;
}

}  // namespace

TEST_CASE("a label is UTF-8 with backslash, quote and newline escaped, whatever the name is") {
  const std::pair<std::string, std::string> labels[] = {
      {"plain", "plain"},
      {"a\\b\"c\nd", "a\\\\b\\\"c\\nd"},
      {"bad\xff\xc3\x28\xed\xa0\x80", "bad\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe6\xb5\x8b", "\xe6\xb5\x8b"},
      {"\xe2\x80\xae", "\xe2\x80\xae"},
  };
  for (const auto& [name, shown] : labels) {
    const std::string text = written(write_stats_prometheus, stats_of({name}));
    CHECK(utf8_valid(text));
    CHECK(text.find("fq_tenant_ready{queue=\"q\",tenant=\"" + shown + "\"} 18446744073709551615\n") !=
          std::string::npos);
  }
}

TEST_CASE("numbers come out alike in whatever locale, to as many digits as they have") {
  const std::string text = written(write_stats_prometheus, stats_of({"t"}));
  CHECK(text.find("fq_tenant_share_ratio{queue=\"q\",tenant=\"t\"} 0.333333\n") != std::string::npos);
  CHECK(text.find("fq_tenant_oldest_ready_seconds{queue=\"q\",tenant=\"t\"} 12.500000\n") !=
        std::string::npos);
  CHECK(text.find("fq_tenant_wait_seconds{queue=\"q\",tenant=\"t\",quantile=\"0.99\"} 1.500\n") !=
        std::string::npos);
  const std::string json = written(write_stats_json, stats_of({"t"}));
  CHECK(json.find("\"share\":0.333,") != std::string::npos);
  CHECK(json.find("\"weight\":1,") != std::string::npos);
  CHECK(json.find("\"oldest_ready_s\":12.5,") != std::string::npos);
}

TEST_CASE("whole rows go out piece by piece, and a failed write ends it") {
  std::vector<std::string> names;
  for (int i = 0; i < 5'000; ++i) names.push_back("tenant-" + std::to_string(i));
  const std::vector<QueueStats> stats = stats_of(names);
  for (const auto& write : {write_stats_json, write_stats_prometheus}) {
    size_t pieces = 0;
    const Result<void> done = write(stats, true, [&](std::string_view piece) -> Result<void> {
      CHECK(piece.ends_with('\n'));
      CHECK(piece.size() < 64 * 1024);
      if (++pieces == 3) return Error{ErrorKind::io, "full", 0};
      return {};
    });
    CHECK_FALSE(done.ok());
    CHECK(pieces == 3);
  }
}
