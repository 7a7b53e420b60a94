// ended_test - whoever sees the end of a message that is to be told of finds what is told, wherever the one
// who ended it was killed.

// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

constexpr const char* kEndPoints[] = {"output.made", "output.kept",    "ended.written",   "ended.appended",
                                      "ended.noted", "event.appended", "event.committed", "settle.durable"};

std::string field(const Spool& spool, const std::string& filter) {
  const std::string shown = spool.says({"show", "1", "--json"});
  return run({"/bin/sh", "-c", "jq -r '" + filter + "'"}, {.env = {}, .input = shown}).out;
}

}  // namespace

TEST_CASE("whoever sees the end finds the record, with its output") {
  for (const char* point : kEndPoints) {
    Spool spool;
    spool.says({"push", "--keep", "1h", "-t", "tenant", "--tag", "K=v", "payload"});
    Start how = spool.with({});
    how.env.push_back("FQ_KILL_AT=" + std::string(point) + ":1");
    const Outcome died =
        run({fq_binary(), "worker", "--once", "--", "head", "-c", "50000", "/dev/zero"}, how);
    INFO("killed at " << point << ": " << died.err);
    REQUIRE(died.signal == SIGKILL);
    spool.check_clean();
    if (field(spool, ".state") != "acked\n") {
      CHECK(field(spool, ".ended_at") == "null\n");
      spool.says({"worker", "--once", "--", "head", "-c", "50000", "/dev/zero"});
    }
    CHECK(field(spool, ".state + \" \" + .tenant + \" \" + .tags.K + \" \" + (.exit | tostring)") ==
          "acked tenant v 0\n");
    CHECK(field(spool, ".ended_at != null and .started_at != null") == "true\n");
    CHECK(spool.says({"result", "1"}).size() >= 49'999);
    // And what it left half done is given back.
    spool.says({"compact"});
    const std::filesystem::directory_iterator outputs(spool.queue("output"));
    CHECK(std::distance(begin(outputs), end(outputs)) == 1);
  }
}

}  // namespace fq::test
