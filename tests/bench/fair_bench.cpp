// fair - what fairness costs: turns that are paid in time, a large policy and a change of it, tenants that
// are woken.
#include "tests/bench/bench.h"

// System.
#include <fstream>

namespace fq::bench {

namespace {

constexpr int kRounds = 9;
constexpr size_t kBatch = 100;

std::unique_ptr<Queue> with_policy(const Setup& setup, const std::string& name, const Policy& policy) {
  std::unique_ptr<Queue> queue = open(fresh_spool(setup, name), Sync::lazy);
  Policy lazy = policy;
  lazy.queue.push_back({PolicyKey::sync, static_cast<int64_t>(SyncMode::lazy), 0, {}});
  FileIdentity identity;
  identity.inode = 1;
  must(queue->policy_load(lazy, identity));
  return queue;
}

class Random {
 public:
  uint64_t below(uint64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % limit;
  }

 private:
  uint64_t state_ = 1;
};

/// As producers push that know nothing of one another: what is served next lies anywhere in the journal.
void push_mixed(Queue& queue, Random& random, size_t count) {
  const std::string payload = payload_of(64);
  PushOptions lazily;
  lazily.durability = Durability::lazy;
  for (size_t done = 0; done < count; done += kBatch) {
    std::vector<NewMessage> batch = messages(0, kBatch, payload);
    for (NewMessage& message : batch) message.tenant = tenants()[random.below(tenants().size())];
    must(queue.push(batch, lazily));
  }
}

/// As many in as out; only taking and ending them is timed. Each says that it ran for 1 ms to 1 s.
double runs(Queue& queue, Random& random, size_t count, bool mixed) {
  mixed ? push_mixed(queue, random, count) : void(push_each(queue, count, kBatch));
  return ns_each(count, [&](size_t) {
    LeaseRequest request;
    request.want = 1;
    const LeaseReply reply = must(queue.lease(request));
    Settle item;
    item.receipt = reply.deliveries.at(0).receipt;
    item.run_us = 1'000 + random.below(1'000'000);
    must(queue.settle({&item, 1}));
  });
}

void compare(const std::string& plain, const std::string& other, const std::function<double()>& of_plain,
             const std::function<double()>& of_other, double most) {
  const std::function<double()> subjects[] = {of_plain, of_other};
  const std::vector<double> ns = interleave(kRounds, subjects);
  line(plain, with_unit(ns[0], "ns"));
  line(other, with_unit(ns[1], "ns"), ratio_of(ns[1] / ns[0], "the former"),
       verdict_of(ns[1] / ns[0], {Sense::at_most, most}));
}

/// Where the tenants take turns in pushing as well, turns are served in the order of the journal, which time
/// cannot be; where the pushes are mixed, neither can.
void bench_costs(const Setup& setup, bool mixed) {
  const size_t count = scaled(setup, 10'000);
  const std::string name = mixed ? "mixed" : "in-turn";
  const std::unique_ptr<Queue> turns = with_policy(setup, "fair-turns-" + name, {});
  const std::unique_ptr<Queue> time =
      with_policy(setup, "fair-time-" + name,
                  {{{PolicyKey::fair_by, static_cast<int64_t>(FairBy::time), 0, {}}}, {}, {}});
  Random random;
  for (Queue* queue : {turns.get(), time.get()}) {
    const size_t backlog = scaled(setup, 100'000);
    mixed ? push_mixed(*queue, random, backlog) : fill(*queue, backlog, payload_of(64));
  }
  const std::string of = mixed ? ", pushes mixed" : ", pushes in turn";
  compare(
      "lease + ack, fair_by turns" + of, "lease + ack, fair_by time" + of,
      [&] { return runs(*turns, random, count, mixed); }, [&] { return runs(*time, random, count, mixed); },
      1.2);
}

void bench_policy(const Setup& setup) {
  const size_t count = scaled(setup, 10'000);
  Policy policy;
  for (int i = 0; i < 10'000; ++i) {
    policy.tenants.push_back(
        {"customer-" + std::to_string(i) + (i % 2 == 0 ? "/*" : ""), {{PolicyKey::weight, 2000, 0, {}}}});
  }
  const std::unique_ptr<Queue> bare = with_policy(setup, "fair-bare", {});
  const std::unique_ptr<Queue> ruled = with_policy(setup, "fair-ruled", policy);
  const auto pushed = [&](Queue& queue) {
    const double ns = push_each(queue, count, 1);
    take_and_ack(queue, count, kBatch);
    return ns;
  };
  compare(
      "push, no policy", "push, 10000 tenant entries", [&] { return pushed(*bare); },
      [&] { return pushed(*ruled); }, 1.05);
}

/// The next command after a change of fq.toml reads and loads all of it.
void bench_policy_change(const Setup& setup) {
  const std::string spool = fresh_spool(setup, "fair-changed");
  const Words push = {setup.programs + "/fq", "push", "--spool", spool, "--lazy", payload_of(64)};
  run_command(push);
  int weight = 1;
  const auto change = [&] {
    std::ofstream file(spool + "/fq.toml");
    ++weight;
    for (int i = 0; i < 10'000; ++i)
      file << "[queue.default.tenant.\"customer-" << i << "\"]\nweight = " << weight << '\n';
  };
  const std::function<double()> subjects[] = {
      [&] { return run_command(push); },
      [&] {
        change();
        return run_command(push);
      },
  };
  const std::vector<double> us = interleave(kRounds, subjects);
  line("fq push --lazy", with_unit(us[0], "us"));
  line("fq push --lazy, 10000 tenant tables changed", with_unit(us[1], "us"),
       ratio_of(us[1] / us[0], "the former"), verdict_of((us[1] - us[0]) / 1e3, {Sense::at_most, 100}));
}

/// Tenants that may have one lease each have it: an end frees the one whose turn is next, a start parks it.
void bench_wakes(const Setup& setup) {
  const size_t count = scaled(setup, 10'000);
  const auto all_at_limit = [&](size_t tenants) {
    std::unique_ptr<Queue> queue = with_policy(setup, "fair-" + std::to_string(tenants),
                                               {{}, {{"t-*", {{PolicyKey::concurrency, 1, 0, {}}}}}, {}});
    for (size_t i = 0; i < 2 * tenants; ++i) {
      NewMessage message;
      const std::string tenant = "t-" + std::to_string(i % tenants);
      message.tenant = tenant;
      must(queue->push({&message, 1}));
    }
    return queue;
  };
  const size_t many = scaled(setup, 100'000);
  const std::unique_ptr<Queue> few = all_at_limit(100), all = all_at_limit(many);
  const auto wakes = [&](Queue& queue, size_t tenants) {
    LeaseRequest request;
    request.want = tenants;
    std::vector<Delivery> held = must(queue.lease(request)).deliveries;
    const double ns = ns_each(count, [&](size_t i) {
      Settle item;
      item.receipt = held[i % held.size()].receipt;
      item.verdict = Verdict::release;
      must(queue.settle({&item, 1}));
      request.want = 1;
      held[i % held.size()] = std::move(must(queue.lease(request)).deliveries.at(0));
    });
    for (size_t from = 0; from < held.size(); ++from) {
      Settle item;
      item.receipt = held[from].receipt;
      item.verdict = Verdict::release;
      must(queue.settle({&item, 1}));
    }
    return ns;
  };
  compare(
      "wake and park, 100 tenants at their limit",
      "wake and park, " + std::to_string(many) + " tenants at their limit", [&] { return wakes(*few, 100); },
      [&] { return wakes(*all, many); }, 2.0);
}

}  // namespace

void bench_fair(const Setup& setup) {
  section("What fairness costs (in process, lazy; ns a message)");
  for (const bool mixed : {false, true}) bench_costs(setup, mixed);
  bench_policy(setup);
  bench_policy_change(setup);
  bench_wakes(setup);
}

}  // namespace fq::bench
