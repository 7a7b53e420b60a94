// care - what a person asks of a queue's health, on every engine.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <vector>

namespace fq {

struct CheckReport {
  uint64_t records = 0;
  uint64_t messages = 0;
  std::vector<std::string> findings;  // each a line for a person; empty: all is well
};

}  // namespace fq
