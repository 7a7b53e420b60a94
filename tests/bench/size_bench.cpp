// size - what a queue takes: segment bytes a message and a tenant, and an empty queue on disk.
#include "tests/bench/bench.h"

// System.
#include <sys/stat.h>

#include <filesystem>

namespace fq::bench {

namespace {

uint64_t segment_bytes(Queue& queue) { return must(queue.stats({})).rows.at(0).segment_bytes.value(); }

/// Allocated, not apparent.
uint64_t disk_bytes(const std::string& directory) {
  uint64_t bytes = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(directory)) {
    struct stat status {};
    if (::lstat(each.path().c_str(), &status) == 0) bytes += static_cast<uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

void measure_messages(const Setup& setup, std::string_view name, size_t payload, size_t first, size_t more) {
  const std::string spool = fresh_spool(setup, "size");
  const std::unique_ptr<Queue> queue = open(spool, Sync::lazy);
  fill(*queue, first, payload_of(payload));
  const uint64_t before = segment_bytes(*queue);
  fill(*queue, more, payload_of(payload));
  const double each = static_cast<double>(segment_bytes(*queue) - before) / static_cast<double>(more);
  line(name, with_unit(each, "bytes"), "", verdict_of(each, {Sense::at_most, 96}));
}

void measure_tenants(const Setup& setup) {
  const std::unique_ptr<Queue> queue = open(fresh_spool(setup, "size"), Sync::lazy);
  const auto push_to = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      const std::string tenant = "account-" + std::to_string(1'000'000 + i);
      NewMessage message;
      message.tenant = tenant;
      must(queue->push({&message, 1}));
    }
  };
  const size_t first = scaled(setup, 20'000);
  const size_t more = scaled(setup, 100'000);
  push_to(0, first);
  const uint64_t before = segment_bytes(*queue);
  push_to(first, first + more);
  // Each came with a message of its own.
  const double each = static_cast<double>(segment_bytes(*queue) - before) / static_cast<double>(more) - 96;
  line("a further tenant (name of 15 bytes)", with_unit(each, "bytes"), "",
       verdict_of(each, {Sense::at_most, 256 + 15}));
}

}  // namespace

void bench_size(const Setup& setup) {
  section("What it takes: bytes of the segment, an empty queue on disk");
  const std::string spool = fresh_spool(setup, "size");
  open(spool, Sync::always);
  const double empty = static_cast<double>(disk_bytes(spool)) / 1024;
  line("an empty queue, journal included", with_unit(empty, "KiB"), "",
       verdict_of(empty, {Sense::at_most, 2048}));
  measure_messages(setup, "a further message of 64 bytes", 64, scaled(setup, 100'000),
                   scaled(setup, 500'000));
  measure_messages(setup, "a further message of 16 KiB", 16 * 1024, scaled(setup, 2'000),
                   scaled(setup, 10'000));
  measure_tenants(setup);
  fresh_spool(setup, "size");
}

}  // namespace fq::bench
