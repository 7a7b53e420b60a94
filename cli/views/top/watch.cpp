#include "cli/views/top/watch.h"

// System.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
// fq, this room.
#include "cli/terminal/output.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/signals.h"
#include "cli/words/arguments.h"
#include "cli/words/values.h"

namespace fq::cli {

std::string over_the_last(std::string_view text, const Screen& screen) {
  std::string all = "\x1b[H";
  // The last line ends without a newline: that would scroll.
  for (size_t line = 0; line < screen.rows && !text.empty(); ++line) {
    const size_t end = text.find('\n');
    all.append(line > 0 ? "\n" : "").append(text.substr(0, end)).append("\x1b[K");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return all.append("\x1b[J");
}

Result<int64_t> watched_every_ms(const Arguments& arguments) {
  if (const auto typed = arguments.value("watch")) return to_positive_duration("--watch", *typed);
  for (const std::string& operand : arguments.operands()) {
    if (!arguments.has("watch") || !to_duration("--watch", operand)) continue;
    return usage_error("--watch", "takes its duration after '='; write --watch=" + operand);
  }
  return 2'000;
}

size_t lines_watched(const Screen& screen) {
  if (!screen.moves) return SIZE_MAX;
  return std::max<size_t>(screen.rows, 2) - 1;  // the prompt that follows has a line of its own
}

Result<void> Watch::show(std::string_view text, const Screen& screen) {
  if (screen.moves) {
    Screen above = screen;
    above.rows = lines_watched(screen);
    if (first_) FQ_TRY(out_.write("\x1b[2J"));
    FQ_TRY(out_.write(over_the_last(text, above) + (text.empty() ? "" : "\n")));
  } else {
    if (!first_) FQ_TRY(out_.write("\n"));
    FQ_TRY(out_.write(text));
  }
  first_ = false;
  return out_.flush();
}

Result<void> Watch::pause(int64_t ms) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(ms);
  const LetSignalsThrough open;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return {};
    pollfd reader{STDOUT_FILENO, 0, 0};  // only whether it is still there
    const int found = ::poll(&reader, 1, static_cast<int>(std::min<int64_t>(left + 1, 3'600'000)));
    if (found > 0 && (reader.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
      return sys_error("write", "standard output", EPIPE);
  }
}

}  // namespace fq::cli
