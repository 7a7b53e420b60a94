// simulate - runs a scenario (see tests/schedule/scenario.h) and prints who got what.
//
// usage: simulate FILE [LINES]     exit 1: the bound was broken; 64: the file is wrong

// System.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
// Tests.
#include "tests/schedule/simulation.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return std::fputs("usage: simulate FILE [LINES]\n", stderr), 64;
  std::ifstream file(argv[1]);
  if (!file) return std::fprintf(stderr, "simulate: %s: cannot be read\n", argv[1]), 64;
  std::ostringstream text;
  text << file.rdbuf();
  try {
    fq::test::Simulation simulation(fq::test::parse_scenario(text.str()));
    simulation.run();
    std::fputs(simulation.report(argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 40).c_str(), stdout);
    return simulation.turns().breaches().empty() ? 0 : 1;
  } catch (const std::runtime_error& fault) {
    return std::fprintf(stderr, "simulate: %s: %s\n", argv[1], fault.what()), 64;
  }
}
