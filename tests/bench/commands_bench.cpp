// commands - `fq push` as a process of its own, as a shell calls it, and its number of system calls.
#include "tests/bench/bench.h"

// System.
#include <fstream>

namespace fq::bench {

namespace {

constexpr int kRounds = 300;
constexpr double kCallsMax = 45;

/// Lines of a trace but the last one, "+++ exited". 0: there is no strace.
size_t calls_of(const Setup& setup, std::vector<std::string> words) {
  if (!has_program("strace")) return 0;
  const std::string trace = setup.place + "/trace";
  words.insert(words.begin(), {"strace", "-f", "-o", trace});
  run_command(words);
  std::ifstream file(trace);
  size_t lines = 0;
  for (std::string text; std::getline(file, text);) {
    if (text.find("+++") == std::string::npos) ++lines;
  }
  return lines;
}

void report_calls(const Setup& setup, std::string_view name, const std::vector<std::string>& words) {
  const size_t calls = calls_of(setup, words);
  if (calls == 0) return line(name, "no strace");
  line(name, std::to_string(calls) + " calls", "",
       verdict_of(static_cast<double>(calls), {Sense::at_most, kCallsMax}));
}

}  // namespace

void bench_commands(const Setup& setup) {
  section("One process a push, 64 bytes (from posix_spawn to its end)");
  const std::string spool = fresh_spool(setup, "commands");
  const std::string file = setup.place + "/floor.sync";
  const std::string map = setup.place + "/floor.map";
  const std::string bin = setup.programs;
  const std::vector<std::string> push = {bin + "/fq", "push", "--spool", spool, "-t", "acme", payload_of(64)};
  std::vector<std::string> lazy = push;
  lazy.insert(lazy.begin() + 2, "--lazy");
  run_command({bin + "/floor_map", map, "make"});
  run_command(push);  // makes the queue
  const std::function<double()> subjects[] = {
      [&] { return run_command({bin + "/floor_noop"}); },
      [&] {
        return run_command({bin + "/floor_sync", file});
      },
      [&] {
        return run_command({bin + "/floor_map", map});
      },
      [&] { return run_command(push); },
      [&] { return run_command(lazy); },
  };
  const std::vector<double> us = interleave(static_cast<int>(scaled(setup, kRounds)), subjects);
  line("floor: a static program that does nothing", with_unit(us[0], "us"));
  line("floor: open, write 128 bytes, fdatasync", with_unit(us[1], "us"), ratio_of(us[1] / us[0], "nothing"));
  line("floor: map, robust mutex, copy 128 bytes", with_unit(us[2], "us"),
       ratio_of(us[2] / us[0], "nothing"));
  line("fq push", with_unit(us[3], "us"), ratio_of(us[3] / us[1], "write+fdatasync"),
       verdict_of(us[3] / us[1], {Sense::at_most, 1.2}));
  line("fq push --lazy", with_unit(us[4], "us"), ratio_of(us[4] / us[2], "map+copy"),
       verdict_of(us[4] / us[2], {Sense::at_most, 1.3}));
  report_calls(setup, "fq push, system calls", push);
  report_calls(setup, "fq push --lazy, system calls", lazy);
}

}  // namespace fq::bench
