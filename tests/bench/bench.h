// bench - what every section needs: a place on disk, medians of interleaved rounds, lines of one table.
//
// A section measures its subject and its floor by turns in the same run, since machines are noisy and only
// ratios keep. A target that is missed is said beside its figure and never ends the run.
#pragma once

// System.
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/queue.h"

namespace fq::bench {

struct Setup {
  std::string programs;  // where fq and the floors are
  std::string place;     // a directory on a real disk, ours alone
  double scale = 1.0;    // of the work; run.sh --quick makes it smaller
};

// ---- time and medians ---------------------------------------------------------------------------

int64_t now_ns();
double median(std::vector<double> values);
double quantile(std::vector<double> values, double part);

/// Runs each subject once a round, by turns; returns each one's median.
std::vector<double> interleave(int rounds, std::span<const std::function<double()>> subjects);

/// Nanoseconds for each of `count` calls of `body`.
template <class Body>
double ns_each(size_t count, Body&& body) {
  const int64_t from = now_ns();
  for (size_t i = 0; i < count; ++i) body(i);
  return static_cast<double>(now_ns() - from) / static_cast<double>(count);
}

size_t scaled(const Setup& setup, size_t count);

// ---- the table ----------------------------------------------------------------------------------

enum class Sense { at_most, at_least };
struct Target {
  Sense sense = Sense::at_most;
  double value = 0;
};

void section(std::string_view title);
/// `figure` with its unit; `ratio` to what `against` names, empty for none.
void line(std::string_view name, std::string figure, std::string ratio = {}, std::string verdict = {});
std::string with_unit(double value, std::string_view unit);
std::string ratio_of(double value, std::string_view against);
/// "met (at most 10.0)" or "MISSED (...)".
std::string verdict_of(double value, Target target);

// ---- queues -------------------------------------------------------------------------------------

/// Ends the run with the error's text when there is one: a bench that measures failures measures nothing.
template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "fq_bench: %s\n", result.error().text.c_str());
    std::_Exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

inline PushOptions lazily() {
  PushOptions options;
  options.durability = Durability::lazy;
  return options;
}

enum class Sync { always, lazy };
/// The spool `name` below the place, made empty.
std::string fresh_spool(const Setup& setup, std::string_view name);
std::unique_ptr<Queue> open(const std::string& spool, Sync sync);
/// "tenant-0" .. "tenant-999".
std::span<const std::string> tenants();
/// `count` messages of `payload`, tenants by turns from `first` on.
std::vector<NewMessage> messages(size_t first, size_t count, std::string_view payload);
void fill(Queue& queue, size_t count, std::string_view payload);
std::string payload_of(size_t bytes);
/// Takes `count` one by one, or `batch` at once, and acks them; every payload is read.
void take_and_ack(Queue& queue, size_t count, size_t batch);
/// Pushes `count` of 64 bytes lazily, `batch` at once; nanoseconds a message.
double push_each(Queue& queue, size_t count, size_t batch);
/// Nanoseconds of `work` for each of `count`.
double per_message(size_t count, const std::function<void()>& work);

// ---- processes ----------------------------------------------------------------------------------

/// Runs `child` in `count` processes at once; returns the `figures` numbers that each came to.
std::vector<std::vector<double>> in_processes(size_t count, size_t figures,
                                              const std::function<std::vector<double>(size_t)>& child);

using Words = std::vector<std::string>;
struct Streams {
  std::string in = "/dev/null";
  int out = -1;  // none: /dev/null
};
/// Starts words[0], looked for in PATH; a failed start ends the run.
pid_t spawn(const Words& words, const Streams& streams = {});
/// Until it has ended; another status than 0 ends the run.
void await(pid_t child, const Words& words);
/// Runs it to its end; microseconds from before the start to the end.
double run_command(const Words& words, const std::string& in = "/dev/null");
bool has_program(const std::string& name);

// ---- sections -----------------------------------------------------------------------------------

void bench_commands(const Setup& setup);
void bench_door(const Setup& setup);
void bench_instructions(const Setup& setup);
void bench_backlog(const Setup& setup);
void bench_fair(const Setup& setup);
void bench_durable(const Setup& setup);
void bench_size(const Setup& setup);
void bench_held(const Setup& setup);
void bench_peers(const Setup& setup);
void bench_wake(const Setup& setup);
void bench_worker(const Setup& setup);
void bench_rebuild(const Setup& setup);
void bench_simulate(const Setup& setup);

/// For bench_instructions and profile.sh: the queue on which the loops are counted, and one of them
/// ("push-1", "push-100", "take-1", "take-100") under callgrind. False: there is no such loop.
void prepare_counting(const Setup& setup);
bool count_loop_named(const Setup& setup, std::string_view name);

/// The peer in the same process; has_peer() is false where its library is not there.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void push(size_t count, size_t batch) = 0;
  virtual void take_and_ack(size_t count, size_t batch) = 0;
};
std::unique_ptr<Peer> open_peer(const std::string& file);  // none without SQLite

}  // namespace fq::bench
