// loose_blobs_test - payloads beside the journal that killed processes leave behind: few, without a rebuild and
// without fq compact, and never one that somebody still sees to.

// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

constexpr uint64_t kPayloadBytes = 256 * 1024;
// As fq-spool(7) tells it, with nothing alive, and what the last one had in hand.
constexpr uint64_t kBound = 2 * 1024 * 1024 + kPayloadBytes;
constexpr int kKills = 30;

std::string large(char letter) { return std::string(kPayloadBytes, letter); }

uint64_t blob_bytes(const Spool& spool) {
  uint64_t bytes = 0;
  for (const auto& each : std::filesystem::directory_iterator(spool.queue("blobs"))) bytes += each.file_size();
  return bytes;
}

void killed_push(const Spool& spool, const std::string& point = "blob.written:1",
                    const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"push"};
  words.insert(words.end(), options.begin(), options.end());
  spool.fq_killed_at(point, words, {.env = {}, .input = large('k')});
}

}  // namespace

TEST_CASE("payloads of pushes that were killed before their record do not pile up") {
  const Spool spool;
  spool.push("first");
  const uint64_t recoveries = spool.recoveries();
  uint64_t most = 0;
  for (int i = 0; i < kKills; ++i) {
    killed_push(spool);
    most = std::max(most, blob_bytes(spool));
  }
  CHECK(most <= kBound);
  CHECK(most > kPayloadBytes);
  CHECK(spool.recoveries() == recoveries);
  CHECK(spool.payloads() == std::set<std::string>{"first"});
  spool.check_clean();
}

TEST_CASE("whoever gives back a message that ended looks for what killed pushes left") {
  const Spool spool;
  spool.push("one");
  for (int i = 0; i < 8; ++i) killed_push(spool);
  REQUIRE(blob_bytes(spool) == 8 * kPayloadBytes);
  CHECK(spool.says({"pop"}) == "one");
  CHECK(blob_bytes(spool) == 0);
}

TEST_CASE("payloads of messages that ended do not pile up when who ends them is killed before they go") {
  const Spool spool;
  spool.push("first");
  uint64_t most = 0;
  for (int i = 0; i < kKills; ++i) {
    spool.says({"push", "--priority", "5"}, {.env = {}, .input = large('e')});
    const bool cancels = i % 2 == 0;
    const std::string id = std::to_string(2 + i);
    if (cancels) {
      spool.fq_killed_at("event.committed:1", {"cancel", id});
    } else {
      spool.fq_killed_at("settle.durable:1", {"pop"});
    }
    most = std::max(most, blob_bytes(spool));
  }
  CHECK(most <= kBound + kPayloadBytes);
  spool.check_clean();
}

TEST_CASE("payloads that were replaced do not pile up when who replaces them is killed before they go") {
  const Spool spool;
  const std::vector<std::string> replace = {"--unique", "k", "--unique-mode", "replace"};
  REQUIRE(spool.fq({"push", "--unique", "k", "--unique-mode", "replace"}, {.env = {}, .input = large('a')}).exit == 0);
  uint64_t most = 0;
  for (int i = 0; i < kKills; ++i) {
    killed_push(spool, "replace.committed:1", replace);
    most = std::max(most, blob_bytes(spool));
  }
  CHECK(most <= kBound + 2 * kPayloadBytes);
  CHECK((spool.payloads() == std::set<std::string>{large('k')}));
  spool.check_clean();
}

TEST_CASE("what died at looking for loose payloads leaves it to the next") {
  const Spool spool;
  spool.push("first");
  uint64_t most = 0;
  for (int i = 0; i < kKills; ++i) {
    const bool looks = blob_bytes(spool) > 8 * kPayloadBytes && i % 2 == 0;
    killed_push(spool, looks ? "orphan.found:1" : "blob.written:1");
    most = std::max(most, blob_bytes(spool));
  }
  CHECK(most <= kBound + kPayloadBytes);
}

TEST_CASE("the payload of a push that is slow is never taken for one that was left behind") {
  const Spool spool;
  spool.push("first");
  const std::string slow_payload = large('s');
  std::ofstream(spool.directory() + "/slow") << slow_payload;
  const std::string input = spool.directory() + "/slow";
  Child slow = spool.start({"push", "--file", input}, {.env = {"FQ_STOP_AT=blob.written:1"}, .input = {}});
  REQUIRE(slow.stopped());
  for (int i = 0; i < kKills; ++i) killed_push(spool);
  CHECK(blob_bytes(spool) <= kBound + kPayloadBytes);
  slow.send(SIGCONT);
  CHECK(slow.end().exit == 0);
  CHECK((spool.payloads() == std::set<std::string>{"first", slow_payload}));
  // And once it is a message no more kills take it either.
  for (int i = 0; i < kKills; ++i) killed_push(spool);
  CHECK((spool.payloads() == std::set<std::string>{"first", slow_payload}));
  spool.check_clean();
}

}  // namespace fq::test
