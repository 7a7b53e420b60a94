// backlog - whether a turn costs more with many queued, or with many parked tenants in front.
#include "tests/bench/bench.h"

// fq, below us.
#include "core/local/local_queue.h"

namespace fq::bench {

namespace {

constexpr int kRounds = 9;
constexpr size_t kBatch = 100;

/// As many in as out, so that the backlog stays as it is; only the taking is timed.
double turns(Queue& queue, size_t count) {
  push_each(queue, count, kBatch);
  return per_message(count, [&] { take_and_ack(queue, count, 1); });
}

/// The same queue twice: bare, and with tenants that have a message and no turn.
std::unique_ptr<Queue> with_parked(const Setup& setup, size_t parked, size_t queued) {
  std::unique_ptr<Queue> queue = open(fresh_spool(setup, "parked-" + std::to_string(parked)), Sync::lazy);
  for (size_t i = 0; i < parked; ++i) {
    const std::string tenant = "parked-" + std::to_string(i);
    NewMessage message;
    message.tenant = tenant;
    message.payload = as_bytes(tenant);
    must(queue->push({&message, 1}));
    must(queue->policy_set(tenant, limited_for(kNever)));
  }
  fill(*queue, queued, payload_of(64));
  return queue;
}

void compare(std::string_view few, std::string_view many, Queue& bare, Queue& loaded, size_t count,
             double most) {
  const std::function<double()> subjects[] = {
      [&] { return turns(bare, count); },
      [&] { return turns(loaded, count); },
  };
  const std::vector<double> ns = interleave(kRounds, subjects);
  line(few, with_unit(ns[0], "ns"));
  line(many, with_unit(ns[1], "ns"), ratio_of(ns[1] / ns[0], "the former"),
       verdict_of(ns[1] / ns[0], {Sense::at_most, most}));
}

}  // namespace

void bench_backlog(const Setup& setup) {
  section("The same with many queued, with many parked (lease + ack one by one; ns a message)");
  const size_t count = scaled(setup, 10'000);
  const size_t few = scaled(setup, 100'000);
  const size_t many = scaled(setup, 10'000'000);
  const size_t parked = scaled(setup, 100'000);
  {
    const std::unique_ptr<Queue> small = open(fresh_spool(setup, "backlog-few"), Sync::lazy);
    const std::unique_ptr<Queue> large = open(fresh_spool(setup, "backlog-many"), Sync::lazy);
    fill(*small, few, payload_of(64));
    fill(*large, many, payload_of(64));
    compare(std::to_string(few) + " queued", std::to_string(many) + " queued", *small, *large, count, 2.0);
  }
  fresh_spool(setup, "backlog-many");
  const std::unique_ptr<Queue> bare = with_parked(setup, 0, few);
  const std::unique_ptr<Queue> loaded = with_parked(setup, parked, few);
  compare("no tenant parked", std::to_string(parked) + " tenants parked", *bare, *loaded, count, 1.1);
}

}  // namespace fq::bench
