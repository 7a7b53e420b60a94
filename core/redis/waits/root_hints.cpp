#include "core/redis/waits/root_hints.h"

// System.
#include <algorithm>
#include <cstdlib>
// fq, below us.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

constexpr uint64_t kWaitersMax = 100'000;  // a server may say anything

}  // namespace

int64_t time_in(const Reply& told) {
  return told.is_text() ? std::strtoll(told.text.c_str(), nullptr, 10) : -1;
}

uint64_t waiters_in(const Reply& told) { return std::min(parse_decimal(told.text).value_or(0), kWaitersMax); }

int64_t clock_ms_in(const Reply& time) {
  const uint64_t ms =
      parse_decimal(time.at(0).text).value_or(0) * 1000 + parse_decimal(time.at(1).text).value_or(0) / 1000;
  return static_cast<int64_t>(ms);
}

}  // namespace fq
