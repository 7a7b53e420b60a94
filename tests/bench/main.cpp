// main - runs the sections that are named, or all. usage: fq_bench PROGRAMS PLACE SCALE [SECTION...]
//
// For callgrind: with --prepare it only makes the queue on which loops are counted, with --loop NAME it runs
// one.

// System.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
// fq, this room.
#include "tests/bench/bench.h"

int main(int argc, char** argv) {
  using namespace fq::bench;
  if (argc < 4) {
    std::fprintf(stderr, "usage: fq_bench PROGRAMS PLACE SCALE [SECTION...]; see tests/bench/run.sh\n");
    return 2;
  }
  const Setup setup{argv[1], argv[2], std::atof(argv[3])};
  std::filesystem::create_directories(setup.place);
  const std::string_view wish = argc > 4 ? argv[4] : "";
  if (wish == "--prepare") return prepare_counting(setup), 0;
  if (wish == "--loop") return argc == 6 && count_loop_named(setup, argv[5]) ? 0 : 2;
  struct Section {
    std::string_view name;
    void (*run)(const Setup&);
  };
  constexpr Section kSections[] = {
      {"commands", bench_commands}, {"door", bench_door},       {"instructions", bench_instructions},
      {"backlog", bench_backlog},   {"fair", bench_fair},       {"durable", bench_durable},
      {"held", bench_held},         {"wake", bench_wake},       {"worker", bench_worker},
      {"size", bench_size},         {"rebuild", bench_rebuild}, {"simulate", bench_simulate},
      {"peers", bench_peers},
  };
  for (const Section& each : kSections) {
    bool wanted = argc == 4;
    for (int i = 4; i < argc; ++i) wanted = wanted || each.name == argv[i];
    if (wanted) each.run(setup);
  }
  std::filesystem::remove_all(setup.place);
  return 0;
}
