#include "cli/session/following.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/escape.h"
#include "core/base/text/utf8.h"
// fq, this room.
#include "cli/session/patience.h"
#include "cli/terminal/shown.h"

namespace fq::cli {

namespace {

using What = FollowStep::What;

constexpr std::string_view kNames[] = {"standard output", "standard error"};

size_t index(Channel channel) { return static_cast<size_t>(channel); }

/// How much of the end of `text` may be the beginning of a character.
size_t begun_bytes(std::string_view text) {
  constexpr size_t kLongest = 4;
  for (size_t n = 1; n < kLongest && n <= text.size(); ++n) {
    const auto byte = static_cast<unsigned char>(text[text.size() - n]);
    if (byte >= 0xc0) return n < (byte >= 0xf0 ? 4U : byte >= 0xe0 ? 3U : 2U) ? n : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

}  // namespace

Result<Following::End> Following::run(std::optional<int64_t> wait_ms, Interrupt& interrupt) {
  Patience patience(wait_ms, &interrupt);
  FollowWait wait{wait_ms, false, &interrupt};
  for (;;) {
    Result<FollowStep> step = patience.ask([&] {
      wait.wait_ms = patience.left_ms();
      return follower_.next(wait);
    });
    if (step) {
      FQ_TRY_SET(const std::optional<End> end, take_step(*step, interrupt));
      if (end) return *end;
    }
    // What comes without end is not told for longer either, and where the server is away that was said.
    if (interrupt.raised()) return End::interrupted;
    if (patience.left_ms() == 0) return End::timed_out;
    if (!step) return std::move(step).error();
  }
}

Result<Following::End> Following::run_once(Interrupt& interrupt) {
  const FollowWait wait{0, true, &interrupt};
  for (;;) {
    FQ_TRY_SET(const FollowStep step, follower_.next(wait));
    FQ_TRY_SET(const std::optional<End> end, take_step(step, interrupt));
    if (end) return *end;
  }
}

/// None: there may be more.
Result<std::optional<Following::End>> Following::take_step(const FollowStep& step,
                                                           const Interrupt& interrupt) {
  if (step.what == What::timed_out) return std::optional(End::timed_out);
  if (step.what == What::interrupted) return std::optional(End::interrupted);
  Result<void> taken = take(step);
  const bool interrupted = interrupt.raised();  // a write may be cut short by something else
  if (!taken.ok() && interrupted && Output::interrupted(taken.error()))
    return std::optional(End::interrupted);
  if (!taken.ok()) return std::move(taken).error();
  return step.what == What::ended ? std::optional(End::ended) : std::nullopt;
}

Result<void> Following::take(const FollowStep& step) {
  if (step.what == What::bytes) return write(step.channel, step.bytes);
  for (const Channel channel : kChannels) FQ_TRY(write_begun(channel));
  if (step.what == What::missing) tell_missing(step);
  if (step.what == What::run) tell_run(step.count);
  if (step.what == What::broken_off) broken_off_ = true;
  if (step.what == What::ended && broken_off_) {
    missing_ = true;
    say_of_it("its worker died; the last output of its job may be missing");
  }
  return {};
}

Result<void> Following::write(Channel channel, std::string_view bytes) {
  positions_[index(channel)] += bytes.size();
  if (!output(channel).is_terminal()) return write_out(channel, bytes);
  std::string& begun = begun_[index(channel)];
  std::string text = std::exchange(begun, std::string()) + std::string(bytes);
  const size_t kept = begun_bytes(text);
  begun = text.substr(text.size() - kept);
  text.resize(text.size() - kept);
  return write_out(channel, escape_terminal(text, {!locale_shows_utf8(), true, true}));
}

Result<void> Following::write_out(Channel channel, std::string_view bytes) {
  FQ_TRY(output(channel).write(bytes));
  return output(channel).flush();
}

/// It was no character.
Result<void> Following::write_begun(Channel channel) {
  const std::string begun = std::exchange(begun_[index(channel)], std::string());
  if (begun.empty()) return {};
  return write_out(channel, escape_terminal(begun, {!locale_shows_utf8(), true, true}));
}

void Following::tell_missing(const FollowStep& step) {
  missing_ = true;
  if (step.count == 0) return say_of_it("the output of its job could not be kept");
  say_of_it(counted(step.count, "byte") + " of its " + std::string(kNames[index(step.channel)]) +
            (step.count == 1 ? " is" : " are") + " missing here, behind byte " +
            std::to_string(positions_[index(step.channel)]));
}

void Following::tell_run(uint64_t run) {
  const bool again = std::exchange(ran_, true);
  const std::string why = std::exchange(broken_off_, false) ? "its worker died; " : "";
  if (!again) return;
  say_of_it(why + "run " + std::to_string(run) + " begins here, behind byte " +
            std::to_string(positions_[0]) + " of standard output and byte " + std::to_string(positions_[1]) +
            " of standard error");
}

void Following::say_of_it(std::string_view text) const {
  say("message " + std::to_string(number(id_)) + ": " + std::string(text));
}

}  // namespace fq::cli
