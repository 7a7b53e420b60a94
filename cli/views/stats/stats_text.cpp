#include "cli/views/stats/stats_text.h"

// System.
#include <array>
#include <cmath>
#include <cstdio>
// fq, below us.
#include "core/base/text/duration.h"
// fq, this room.
#include "cli/terminal/screen.h"

namespace fq::cli {

namespace {

constexpr size_t kWaitColumns = 10;

std::string number_text(const char* format, double number) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

/// To a tenth of a second below a minute, to a second below an hour, to a minute above.
std::string long_text(int64_t ms) {
  const int64_t step = ms < 10'000 ? 100 : ms < 3'600'000 ? 1'000 : 60'000;
  return format_duration((ms + step / 2) / step * step);
}

}  // namespace

std::string wait_text(const std::optional<int64_t>& ms) {
  if (!ms) return "-";
  if (*ms < 1) return "<1ms";
  return *ms < 1'000 ? format_duration(*ms) : long_text(*ms);
}

std::string age_text(const std::optional<double>& seconds) {
  if (!seconds) return "-";
  return *seconds < 1 ? "<1s" : long_text(std::llround(*seconds) * 1'000);
}

std::string rate_text(const std::optional<Rates>& rates) {
  if (!rates) return "-";
  if (rates->m1 == 0) return "0";
  return number_text(rates->m1 < 10 ? "%.2f" : rates->m1 < 1'000 ? "%.1f" : "%.0f", rates->m1);
}

std::string percent_text(const std::optional<double>& part) {
  return part ? number_text("%.1f%%", *part * 100) : "-";
}

std::string index_text(const std::optional<double>& index) {
  return index ? number_text("%.2f", *index) : "-";
}

size_t name_columns(size_t screen_columns, bool several_queues) {
  if (screen_columns < 60) return several_queues ? 8 : 11;
  return screen_columns < 100 && several_queues ? 19 : 27;
}

std::string waits_text(const Percentiles& waits, bool utf8) {
  std::array<double, kWaitColumns> columns{};
  for (size_t octave = 0; octave < waits.by_octave.size(); ++octave) {
    const size_t column = std::min((octave + 2) / 3, kWaitColumns - 1);
    columns[column] += static_cast<double>(waits.by_octave[octave]);
  }
  return heights(columns.data(), columns.size(), utf8);
}

}  // namespace fq::cli
