// rebuild - the journal read and applied into a new segment, as after a reboot; its pages are cached.
#include "tests/bench/bench.h"

// System.
#include <filesystem>

namespace fq::bench {

void bench_rebuild(const Setup& setup) {
  section("Rebuild from the journal (the segment is gone)");
  const std::string spool = fresh_spool(setup, "rebuild");
  const size_t pushes = scaled(setup, 400'000);
  const size_t takes = scaled(setup, 100'000);
  {
    const std::unique_ptr<Queue> queue = open(spool, Sync::lazy);
    const std::string payload = payload_of(64);
    const std::vector<NewMessage> all = messages(0, tenants().size(), payload);
    for (size_t i = 0; i < pushes; ++i) must(queue->push({&all[i % all.size()], 1}));
    take_and_ack(*queue, takes, 1);
  }
  std::vector<double> rates;
  size_t left = 0;
  for (int round = 0; round < 5; ++round) {
    std::filesystem::remove(spool + "/queues/default/segment");
    std::unique_ptr<Queue> queue;
    const double ns = ns_each(1, [&](size_t) { queue = must(open_queue({spool, "default"})); });
    left = must(queue->stats({})).rows.at(0).ready;
    rates.push_back(static_cast<double>(pushes + 2 * takes) * 1e9 / ns);
  }
  const double rate = median(rates) / 1e6;
  line("records, one message each", with_unit(rate, "M/s"), std::to_string(left) + " messages ready",
       verdict_of(rate, {Sense::at_least, 3.0}));
}

}  // namespace fq::bench
