// server_bench - what queues on a server cost that server, beside bare lists and, where it is named, BullMQ.
//
// usage: server_bench [DIRECTORY]   of a node package that has bullmq; its program is bullmq.mjs
//        server_bench --waiters [COUNT [SHARDS]]   only: what clients cost that wait for what does not come
//                                                  (1,000 of a queue of 1 shard)
//
// What is measured is the server's processor time for each message, as its INFO has it: it is what limits how
// much one server does, and is little disturbed by who else is on the machine. All subjects have the same
// server, by turns; 100 bytes a message, in 1,024 tenants of 256 accounts.

// System.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>
// fq, below us.
#include "core/redis/redis_engine.h"
#include "core/redis/wire/server.h"
// Tests.
#include "tests/bench/servers/sleepers.h"
#include "tests/servers/servers.h"

namespace fq::bench {

namespace {

constexpr size_t kMessages = 16'000, kTenants = 1'024;
constexpr int kRounds = 5;
constexpr size_t kSleepers = 1'000;
constexpr size_t kMessagesBeside = 3'200;
constexpr int kSleeperRounds = 3;
constexpr unsigned kSilenceSeconds = 5;

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "server_bench: %s\n", result.error().text.c_str());
    std::exit(1);
  }
  return std::move(result).value();
}

class Subjects {
 public:
  explicit Subjects(size_t messages = kMessages, uint32_t shards = 1)
      : messages_(messages), shards_(shards), peer_(must(Server::open(place(), ""))) {
    for (size_t i = 0; i < kTenants; ++i)
      tenants_.push_back("account" + std::to_string(i % 256) + "/" + std::to_string(i));
  }
  const std::string& socket() const { return server_.socket(); }

  /// Microseconds of the server for each message of `run`.
  double cost_of(const std::function<void()>& run) {
    const double before = used_us();
    run();
    return (used_us() - before) / static_cast<double>(messages_);
  }

  void push_list(size_t at_once) {
    for (size_t i = 0; i < messages_; i += at_once) {
      for (size_t k = 0; k < at_once; ++k)
        peer_->add(std::array<std::string_view, 3>{"RPUSH", "peer:list", payload_});
      for (size_t k = 0; k < at_once; ++k) must(peer_->receive());
    }
  }
  /// As a list that loses nothing is worked on: to a second one, and away from it.
  void work_list(size_t at_once) {
    for (size_t i = 0; i < messages_; i += at_once) {
      for (size_t k = 0; k < at_once; ++k) {
        peer_->add(std::array<std::string_view, 5>{"LMOVE", "peer:list", "peer:taken", "LEFT", "RIGHT"});
        peer_->add(std::array<std::string_view, 4>{"LREM", "peer:taken", "1", payload_});
      }
      for (size_t k = 0; k < 2 * at_once; ++k) must(peer_->receive());
    }
  }
  void call_function(size_t at_once) {
    for (size_t i = 0; i < messages_; i += at_once)
      must(queue_->await_end({.ids = {}, .until_idle = true, .wait_ms = 0}));
  }
  void push(size_t at_once) {
    std::vector<NewMessage> batch(at_once);
    for (size_t i = 0; i < messages_; i += at_once) {
      for (size_t k = 0; k < at_once; ++k) {
        batch[k].tenant = tenants_[(i + k) * 389 % kTenants];
        batch[k].payload = as_bytes(payload_);
      }
      must(queue_->push(batch));
    }
  }
  /// Verdicts of the last ones go with the lease of the next, as of a worker.
  void work(size_t at_once) {
    LeaseRequest request;
    request.want = at_once;
    LeaseReply leased = must(queue_->lease(request));
    while (!leased.deliveries.empty()) {
      std::vector<Settle> verdicts(leased.deliveries.size());
      for (size_t k = 0; k < verdicts.size(); ++k) verdicts[k].receipt = leased.deliveries[k].receipt;
      leased = *must(queue_->settle(verdicts, &request)).next;
    }
  }
  void start_queue() { queue_ = open("default"); }
  std::unique_ptr<Queue> open(const std::string& name) const {
    must(engine().create({server_.spool(), name}, {.shards = shards_}));
    return must(engine().open({server_.spool(), name}, {}));
  }
  /// Microseconds of the server a second of the wall clock, while nobody but them asks anything.
  double cost_of_silence() {
    const double before = used_us();
    ::sleep(kSilenceSeconds);
    return (used_us() - before) / kSilenceSeconds;
  }
  /// Those noted down for a queue by all shards that they wait at, which wait with nothing to do from then on.
  void await_noted(const std::string& name, size_t count, bool at_each_shard) {
    if (at_each_shard) count *= shards_;
    while (noted(name) < count) ::usleep(10'000);
    ::sleep(2);  // their first looks
  }
  void forget_noted(const std::string& name) {
    for (const std::string& list : keys_of(name, "b[wf]"))
      must(peer_->call(std::array<std::string_view, 2>{"DEL", list}));
    for (const std::string& root : keys_of(name, "h"))
      must(peer_->call(std::array<std::string_view, 4>{"HSET", root, "waiters", "0"}));
  }

 private:
  RedisPlace place() const {
    RedisPlace place;
    place.socket = server_.socket();
    return place;
  }
  /// Of all shards.
  std::vector<std::string> keys_of(const std::string& name, const std::string& key) {
    const std::string pattern = "fq1:fq:{" + name + ":*}:" + key;
    std::vector<std::string> keys;
    for (const Reply& each : must(peer_->call(std::array<std::string_view, 2>{"KEYS", pattern})).items)
      keys.push_back(each.text);
    return keys;
  }
  size_t noted(const std::string& name) {
    size_t count = 0;
    for (const std::string& list : keys_of(name, "b[wf]"))
      count += static_cast<size_t>(must(peer_->call(std::array<std::string_view, 2>{"ZCARD", list})).number);
    return count;
  }
  static const RedisEngine& engine() {
    static const RedisEngine engine(
        redis_library(), [] { return Result<std::string>(std::string()); }, false, nullptr,
        [] { return Result<std::string>("a key that only this bench has"); });
    return engine;
  }
  double used_us() {
    const Reply info = must(peer_->call(std::array<std::string_view, 2>{"INFO", "cpu"}));
    double sum = 0;
    for (const char* name : {"used_cpu_sys:", "used_cpu_user:"})
      sum += std::strtod(info.text.c_str() + info.text.find(name) + std::string_view(name).size(), nullptr);
    return sum * 1e6;
  }

  const size_t messages_;  // of each run
  const uint32_t shards_;  // of each queue
  const fq::test::TestServer server_;
  std::unique_ptr<Server> peer_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::string> tenants_;
  const std::string payload_ = std::string(100, 'x');
};

/// The peer has a client of its own: what it is asked for it does, and ends.
void run_bullmq(const std::string& directory, const std::string& socket, const char* what) {
  const std::string command = "cd '" + directory + "' && SOCKET='" + socket +
                              "' COUNT=" + std::to_string(kMessages) +
                              " node '" BENCH_SOURCE "/bullmq.mjs' " + what;
  if (std::system(command.c_str()) != 0) std::exit(1);
}

struct Row {
  const char* name;
  std::function<void(Subjects&)> run;
  std::vector<double> costs = {};
  double median() {
    std::sort(costs.begin(), costs.end());
    return costs[costs.size() / 2];
  }
};

void measure(const char* bullmq) {
  Subjects subjects;
  subjects.start_queue();
  std::vector<Row> rows = {
      {"RPUSH, 16 in a pipeline", [](Subjects& s) { s.push_list(16); }},
      {"LMOVE and LREM, 16 in a pipeline", [](Subjects& s) { s.work_list(16); }},
      {"fq push, 16 at once", [](Subjects& s) { s.push(16); }},
      {"fq lease and ack, 16 at once", [](Subjects& s) { s.work(16); }},
      {"fq push, one by one", [](Subjects& s) { s.push(1); }},
      {"fq lease and ack, one by one", [](Subjects& s) { s.work(1); }},
      {"a call that does nothing", [](Subjects& s) { s.call_function(1); }},
  };
  if (bullmq != nullptr) {
    const std::string directory = bullmq;
    rows.push_back({"BullMQ addBulk, 16 at once",
                    [directory](Subjects& s) { run_bullmq(directory, s.socket(), "push"); }});
    rows.push_back({"BullMQ jobs, 32 at a time",
                    [directory](Subjects& s) { run_bullmq(directory, s.socket(), "work"); }});
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Row& row : rows) row.costs.push_back(subjects.cost_of([&] { row.run(subjects); }));
  }
  std::printf("server's processor time, us a message (median of %d)\n", kRounds);
  for (Row& row : rows) std::printf("  %-34s %7.2f\n", row.name, row.median());
  std::printf("  fq push of 16: %.1f RPUSH; lease and ack of 16: %.1f LMOVE and LREM\n",
              rows[2].median() / rows[0].median(), rows[3].median() / rows[1].median());
  if (bullmq == nullptr) return;
  std::printf("  of BullMQ: push of 16 %.2f, lease and ack of 16 %.2f, one by one %.2f\n",
              rows[2].median() / rows[7].median(), rows[3].median() / rows[8].median(),
              rows[5].median() / rows[8].median());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Beside a load, round by round with and without them: of an empty queue, or of empty tenants of the queue
/// that is worked on.
void measure_waiters(size_t count, uint32_t shards) {
  Subjects subjects(kMessagesBeside, shards);
  subjects.start_queue();
  const auto load = [&] {
    return subjects.cost_of([&] {
      subjects.push(16);
      subjects.work(16);
    });
  };
  load();
  struct Kind {
    const char* what;
    std::string queue;
    std::string tenant;
    std::vector<double> silent = {}, ratios = {};
  };
  std::vector<Kind> kinds = {{"of an empty queue", "empty", ""}, {"of empty tenants", "default", "empty"}};
  std::vector<double> alone, idle;
  for (int round = 0; round < kSleeperRounds; ++round) {
    idle.push_back(subjects.cost_of_silence());
    for (Kind& kind : kinds) {
      const double before = load();
      alone.push_back(before);
      {
        const Sleepers sleepers(
            count, [&] { return subjects.open(kind.queue); },
            [&](size_t i) { return kind.tenant.empty() ? "" : kind.tenant + std::to_string(i); });
        subjects.await_noted(kind.queue, count, kind.tenant.empty());
        kind.silent.push_back(subjects.cost_of_silence());
        kind.ratios.push_back(load() / before);
      }
      subjects.forget_noted(kind.queue);
    }
  }
  std::printf("%zu clients that wait at %u shards for what does not come (medians of %d)\n", count, shards,
              kSleeperRounds);
  std::printf("  nobody: %.2f %% of the server's processor, %.1f us a message of a load\n",
              median_of(idle) / 1e4, median_of(alone));
  for (const Kind& kind : kinds)
    std::printf("  %-18s %.2f %% of it; a message costs %.3f times as much\n", kind.what,
                median_of(kind.silent) / 1e4, median_of(kind.ratios));
}

}  // namespace

}  // namespace fq::bench

// It has the one engine.
namespace fq {
std::span<const Engine* const> engines() { return {}; }
}  // namespace fq

int main(int argc, char** argv) {
  const auto number = [&](int at, size_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  const std::string_view asked = argc > 1 ? argv[1] : "";
  if (asked != "--waiters") fq::bench::measure(argc > 1 ? argv[1] : nullptr);
  fq::bench::measure_waiters(number(2, fq::bench::kSleepers), static_cast<uint32_t>(number(3, 1)));
}
