// stream_of - a command that stays up, with messages open in it, as a worker sees it.
#pragma once

// System.
#include <poll.h>

#include <algorithm>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/clock.h"
#include "core/worker/jobs/job_stream.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

/// A stream whose command is a shell script, with messages 1, 2 and so on open in it.
class StreamOf {
 public:
  explicit StreamOf(const std::string& script, uint64_t open = 3) : around_(options_of(script)) {
    stream_ = std::move(JobStream::start(around_.shop(), "q", 1, nullptr)).value();
    for (uint64_t id = 1; id <= open; ++id) stream_->give(around_.shop(), arrival(id));
  }
  JobStream& stream() { return *stream_; }
  void give_with_limit(uint64_t id, uint32_t attempt = 1) {
    Arrival one = arrival(id);
    one.delivery.timeout_ms = 1'000;
    one.delivery.attempt = attempt;
    stream_->give(around_.shop(), std::move(one));
  }
  /// Messages whose lines are so long.
  void give_long(uint64_t count, size_t line_bytes) {
    around_.voice.line = [line_bytes, this](const std::string&, const Delivery&) {
      ++lines_made_;
      return Result<std::string>(std::string(line_bytes - 1, 'x') + "\n");
    };
    for (uint64_t id = 1; id <= count; ++id) stream_->give(around_.shop(), arrival(id));
  }
  void give_unreadable(uint64_t id) {
    around_.voice.line = [](const std::string&, const Delivery&) {
      return Result<std::string>(Error{ErrorKind::bad_data, "gone"});
    };
    stream_->give(around_.shop(), arrival(id));
  }
  size_t lines_made() const { return lines_made_; }
  std::string flush() { return text_of(stream_->flush(around_.shop())); }
  std::string close_input() { return text_of(stream_->close_input()); }
  /// Until the command has written something.
  void await_word() const {
    pollfd ready{stream_->out(), POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 20'000) == 1);
  }
  /// "ack 1.1; bury 2.1 reason": what it has decided when its output has ended.
  std::string decides() {
    std::vector<VerdictOrder> orders;
    while (stream_->out() >= 0) {
      await_word();
      for (VerdictOrder& each : stream_->read_verdicts(around_.shop())) orders.push_back(std::move(each));
    }
    return text_of(orders);
  }
  /// Its process ends, at `now_ms`.
  std::string end(int64_t now_ms, bool stopped = false) {
    return text_of(stream_->note_end(around_.shop(), stopped, now_ms));
  }
  std::string finish() { return text_of(stream_->finish(around_.shop())); }
  /// All of that.
  std::string ends(bool stopped = false) {
    const std::string said = end(system_clock().boot_ms(), stopped);
    // Asked again at once: nobody is told that a group is gone.
    while (!stream_->is_gone(system_clock().boot_ms())) {
    }
    const std::string left = finish();
    return said + (said.empty() || left.empty() ? "" : "; ") + left;
  }
  /// How long each has run whose verdict was given, in that order.
  const std::vector<uint64_t>& runs_us() const { return runs_us_; }
  /// And what is said of the verdicts once they hold.
  std::string said() const { return around_.err_file.text() + told_; }
  size_t lines_said() const {
    const std::string text = said();
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

 private:
  static Options options_of(const std::string& script) {
    Options options;
    options.shell = true;
    options.command = {script};
    return options;
  }
  std::string text_of(const std::vector<VerdictOrder>& orders) {
    constexpr const char* kNames[] = {"ack", "retry", "release", "bury"};
    std::string text;
    for (const VerdictOrder& each : orders) {
      if (!each.said.empty()) told_ += each.said + "\n";
      if (each.run_us) runs_us_.push_back(*each.run_us);
      text += std::string(text.empty() ? "" : "; ") + kNames[static_cast<int>(each.verdict)] + " " +
              each.receipt.text();
      if (each.verdict == Verdict::release && each.delay_ms > 0)
        text += " in " + std::to_string(each.delay_ms);
      if (!each.reason.empty()) text += " " + each.reason;
    }
    return text;
  }
  Surroundings around_;
  std::unique_ptr<JobStream> stream_;
  size_t lines_made_ = 0;
  std::vector<uint64_t> runs_us_;
  std::string told_;
};

}  // namespace fq::test
