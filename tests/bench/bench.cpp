#include "tests/bench/bench.h"

// System.
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace fq::bench {

int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<size_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

std::vector<double> interleave(int rounds, std::span<const std::function<double()>> subjects) {
  std::vector<std::vector<double>> measured(subjects.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < subjects.size(); ++i) measured[i].push_back(subjects[i]());
  }
  std::vector<double> medians;
  for (std::vector<double>& each : measured) medians.push_back(median(std::move(each)));
  return medians;
}

size_t scaled(const Setup& setup, size_t count) {
  return std::max<size_t>(100, static_cast<size_t>(static_cast<double>(count) * setup.scale));
}

void section(std::string_view title) {
  std::printf("\n%.*s\n", static_cast<int>(title.size()), title.data());
  std::fflush(stdout);
}

void line(std::string_view name, std::string figure, std::string ratio, std::string verdict) {
  std::printf("  %-50.*s %14s  %-24s %s\n", static_cast<int>(name.size()), name.data(), figure.c_str(),
              ratio.c_str(), verdict.c_str());
  std::fflush(stdout);
}

std::string with_unit(double value, std::string_view unit) {
  char text[64];
  const int decimals = value < 10 ? 2 : value < 1000 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %.*s", decimals, value, static_cast<int>(unit.size()), unit.data());
  return text;
}

std::string ratio_of(double value, std::string_view against) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f x %.*s", value, static_cast<int>(against.size()), against.data());
  return text;
}

std::string verdict_of(double value, Target target) {
  const bool met = target.sense == Sense::at_most ? value <= target.value : value >= target.value;
  char text[64];
  std::snprintf(text, sizeof text, "%s (%s %g)", met ? "met" : "MISSED",
                target.sense == Sense::at_most ? "at most" : "at least", target.value);
  return text;
}

std::string fresh_spool(const Setup& setup, std::string_view name) {
  const std::string spool = setup.place + "/" + std::string(name);
  std::filesystem::remove_all(spool);
  return spool;
}

std::unique_ptr<Queue> open(const std::string& spool, Sync sync) {
  OpenOptions options;
  options.create = true;
  std::unique_ptr<Queue> queue = must(open_queue({spool, "default"}, options));
  Settings settings = must(queue->settings());
  settings.sync = sync == Sync::lazy ? SyncMode::lazy : SyncMode::always;
  must(queue->policy_load({values_of(settings), {}, {}}, FileIdentity{}));
  return queue;
}

std::span<const std::string> tenants() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (int i = 0; i < 1000; ++i) made.push_back("tenant-" + std::to_string(i));
    return made;
  }();
  return names;
}

std::vector<NewMessage> messages(size_t first, size_t count, std::string_view payload) {
  std::vector<NewMessage> made(count);
  for (size_t i = 0; i < count; ++i) {
    made[i].tenant = tenants()[(first + i) % tenants().size()];
    made[i].payload = as_bytes(payload);
  }
  return made;
}

void fill(Queue& queue, size_t count, std::string_view payload) {
  const size_t batch = std::clamp<size_t>(100'000 / (payload.size() + 100), 1, 500);
  for (size_t done = 0; done < count; done += batch) {
    must(queue.push(messages(done, std::min(batch, count - done), payload), lazily()));
  }
}

std::string payload_of(size_t bytes) { return std::string(bytes, 'x'); }

void take_and_ack(Queue& queue, size_t count, size_t batch) {
  LeaseRequest request;
  request.want = batch;
  std::vector<Settle> verdicts;
  for (size_t done = 0; done < count;) {
    LeaseReply reply = must(queue.lease(request));
    if (reply.deliveries.empty()) std::fprintf(stderr, "fq_bench: the queue ran dry\n"), std::_Exit(1);
    verdicts.clear();
    for (Delivery& delivery : reply.deliveries) {
      if (delivery.payload.bytes().empty())
        std::fprintf(stderr, "fq_bench: an empty payload\n"), std::_Exit(1);
      verdicts.emplace_back().receipt = std::move(delivery.receipt);
    }
    done += verdicts.size();
    must(queue.settle(verdicts));
  }
}

double push_each(Queue& queue, size_t count, size_t batch) {
  const std::string payload = payload_of(64);
  const std::vector<NewMessage> all = messages(0, tenants().size() + batch, payload);
  const double each = ns_each(count / batch, [&](size_t i) {
    must(queue.push(std::span(all).subspan(i * batch % tenants().size(), batch), lazily()));
  });
  return each / static_cast<double>(batch);
}

double per_message(size_t count, const std::function<void()>& work) {
  return ns_each(1, [&](size_t) { work(); }) / static_cast<double>(count);
}

std::vector<std::vector<double>> in_processes(size_t count, size_t figures,
                                              const std::function<std::vector<double>(size_t)>& child) {
  const size_t bytes = count * figures * sizeof(double);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto* cells = static_cast<double*>(memory);
  std::fflush(nullptr);
  for (size_t i = 0; i < count; ++i) {
    if (::fork() != 0) continue;
    const std::vector<double> own = child(i);
    std::copy_n(own.begin(), figures, cells + i * figures);
    std::_Exit(0);
  }
  for (size_t i = 0; i < count; ++i) {
    int status = -1;
    if (::wait(&status) < 0 || status != 0) std::abort();
  }
  std::vector<std::vector<double>> values;
  for (size_t i = 0; i < count; ++i) values.emplace_back(cells + i * figures, cells + (i + 1) * figures);
  ::munmap(memory, bytes);
  return values;
}

pid_t spawn(const Words& words, const Streams& streams) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, streams.in.c_str(), O_RDONLY, 0);
  if (streams.out >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, streams.out, 1);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) std::fprintf(stderr, "fq_bench: '%s' did not start\n", arguments[0]), std::_Exit(1);
  return child;
}

void await(pid_t child, const Words& words) {
  int status = -1;
  ::waitpid(child, &status, 0);
  if (status == 0) return;
  std::fprintf(stderr, "fq_bench: '%s' ended with %d\n", words[0].c_str(), status);
  std::_Exit(1);
}

double run_command(const Words& words, const std::string& in) {
  const int64_t from = now_ns();
  await(spawn(words, {in}), words);
  return static_cast<double>(now_ns() - from) / 1000.0;
}

bool has_program(const std::string& name) {
  return ::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace fq::bench
