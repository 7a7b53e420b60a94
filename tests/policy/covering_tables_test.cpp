// covering_tables_test - what is found by pieces is what holding each against each would find.
#include "core/policy/covering_tables.h"

// System.
#include <random>
// fq, below us.
#include "core/base/text/pattern.h"
// Tests.
#include <catch2/catch.hpp>

namespace fq::test {

TEST_CASE("those that take in a name are found among many, each once") {
  const unsigned seed = GENERATE(1U, 2U, 3U);
  std::mt19937 random(seed);
  INFO("seed " << seed);
  const auto name_of = [&] {
    std::string name;
    for (size_t left = 1 + random() % 6; left > 0; --left) name.push_back("aab*"[random() % 4]);
    return name;
  };
  std::vector<FileQueue> queues(300);
  CoveringTables tables;
  for (FileQueue& queue : queues) {
    queue.queue.name = name_of();
    tables.add(queue);
  }
  for (int i = 0; i < 300; ++i) {
    const std::string name = name_of();
    std::vector<const FileQueue*> expected;
    for (const FileQueue& queue : queues) {
      if (pattern_matches(queue.queue.name, name)) expected.push_back(&queue);
    }
    INFO(name);
    CHECK(tables.of(name) == expected);
  }
}

}  // namespace fq::test
