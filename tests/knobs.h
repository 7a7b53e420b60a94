// knobs - what a test run may be given by its environment: a seed, a longer form.
#pragma once

// System.
#include <cstdint>
#include <cstdlib>
#include <random>

namespace fq::test {

/// The number in an environment variable, or `otherwise`.
inline uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// FQ_LONG asks for all that can be tried, where CI tries a part of it.
inline bool is_long_form() { return std::getenv("FQ_LONG") != nullptr; }

/// Tables of what is killed where are longer than each test run has time for: it tries a random part of them,
/// another one each time. FQ_ALL has it try all.
inline bool is_all_tried() { return std::getenv("FQ_ALL") != nullptr || is_long_form(); }

/// Sanitized code takes ten times as long: tests/run.sh has it do a part, which FQ_HISTORIES tells.
inline bool is_whole_form() { return number_of("FQ_HISTORIES", 200) >= 200; }

/// FQ_SEED repeats a run that failed; tests tell the seed of theirs.
inline uint64_t seed_of_run() { return number_of("FQ_SEED", std::random_device{}()); }

}  // namespace fq::test
