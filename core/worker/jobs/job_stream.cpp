#include "core/worker/jobs/job_stream.h"

// System.
#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/worker/jobs/verdicts.h"

namespace fq::worker {

namespace {

constexpr size_t kLineBytesMax = 64 * 1024;
constexpr int kStreamReadsMax = 32;  // twice the largest pipe that a user may make
constexpr size_t kToldBytes = 200;   // of a line that is no verdict
constexpr size_t kToldMax = 8;       // such lines of one read; arbitrary

/// Takes the next word off the front.
std::string_view take_word(std::string_view& text) {
  const size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  return word;
}

struct VerdictName {
  std::string_view name;
  Verdict verdict;
};
constexpr VerdictName kVerdicts[] = {
    {"ack", Verdict::ack}, {"release", Verdict::release}, {"retry", Verdict::retry}, {"bury", Verdict::bury}};

}  // namespace

Result<std::unique_ptr<JobStream>> JobStream::start(const Workshop& shop, const std::string& queue,
                                                    uint32_t slot, std::shared_ptr<const Descriptor> kept) {
  int in[2], out[2], err[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return sys_error("pipe", "a command's input", errno);
  const Descriptor in_read(in[0]);
  std::unique_ptr<JobStream> stream(new JobStream);
  stream->queue_ = queue;
  stream->in_ = Descriptor(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) return sys_error("pipe", "a command's output", errno);
  stream->out_ = Descriptor(out[0]);
  const Descriptor out_write(out[1]);
  if (::pipe2(err, O_CLOEXEC) != 0) return sys_error("pipe", "a command's output", errno);
  Descriptor err_read(err[0]);
  const Descriptor err_write(err[1]);
  for (const int ours : {in[1], out[0], err[0]}) ::fcntl(ours, F_SETFL, O_NONBLOCK);
  Launch launch;
  launch.argv = words_for_all(shop.options);
  launch.environment = shop.environment.for_many(queue, "", 0, slot);
  launch.nice = shop.options.nice;
  launch.umask = shop.options.umask;
  launch.limits = &shop.options.limits;
  if (kept) launch.kept.push_back(kept->get());
  launch.in = in_read.get();
  launch.out = out_write.get();
  launch.err = err_write.get();
  FQ_TRY_SET(stream->process_, worker::launch(launch));
  stream->err_ = Capture(std::move(err_read), {.passage = &shop.err, .tail_bytes = kTailBytes});
  return stream;
}

void JobStream::give(const Workshop& shop, Arrival arrival) {
  std::string receipt = arrival.delivery.receipt.text();
  if (open_.empty()) busy_ = Stopwatch();
  Open open;
  if (const int64_t limit_ms = limit_of(shop, arrival.delivery); limit_ms > 0) {
    open.limit_at_ms = system_clock().boot_ms() + limit_ms;
    limited_ = true;
  }
  open.arrival = std::move(arrival);
  waiting_.push_back(receipt);
  open_.emplace(std::move(receipt), std::move(open));
}

void JobStream::extend(const Receipt& receipt, int64_t until_ms) {
  const auto open = open_.find(receipt.text());
  if (open == open_.end() || open->second.limit_at_ms == kNever) return;
  open->second.limit_at_ms = until_ms;
  if (!back_) return;
  back_->asked = std::exchange(open->second.timed_out, false) || back_->asked;
  take_end_back();
}

/// A command that has caught its TERM was told that it may go on with some messages; the others that were
/// over their time have ended or have asked, too.
void JobStream::take_end_back() {
  if (!back_ || !back_->asked) return;
  if (std::any_of(open_.begin(), open_.end(), [](const auto& each) { return each.second.timed_out; })) return;
  stage_ = back_->stage;
  step_at_ms_ = back_->step_at_ms;
  back_.reset();
}

int64_t JobStream::next_ms() const {
  if (is_over()) return end_.next_ms();
  if (stage_ == Stage::up && !(in_ && out_)) return 0;
  int64_t next = step_at_ms_;
  if (!limited_ || stage_ == Stage::ending || stage_ == Stage::killed) return next;
  for (const auto& [receipt, open] : open_) next = std::min(next, open.limit_at_ms);
  return next;
}

void JobStream::on_time(int64_t now_ms, int64_t grace_ms) {
  if (is_over() || now_ms < next_ms()) return;
  if (stage_ == Stage::ending) return kill();
  bool over = step_at_ms_ <= now_ms;
  if (!over) back_ = Back{stage_, step_at_ms_};
  for (auto& [receipt, open] : open_) {
    open.timed_out = open.limit_at_ms <= now_ms;
    over = over || open.timed_out;
  }
  if (!over) back_.reset();
  stage_ = over ? Stage::ending : Stage::leaving;
  step_at_ms_ = now_ms + grace_ms;
  if (!over) return;
  signal_group(process_, SIGTERM);
  signal_group(process_, SIGCONT);
}

void JobStream::kill() {
  if (is_over()) return;
  signal_group(process_, SIGKILL);
  stage_ = Stage::killed;
  step_at_ms_ = kNever;
  back_.reset();
}

void JobStream::make_lines(const Workshop& shop, std::vector<VerdictOrder>& orders) {
  while (stage_ == Stage::up && !waiting_.empty() && outbox_.has_room()) {
    std::string receipt = std::move(waiting_.front());
    waiting_.pop_front();
    const auto open = open_.find(receipt);
    if (open == open_.end()) continue;  // somebody else gave its verdict
    const Delivery& delivery = open->second.arrival.delivery;
    const Result<std::string> line = shop.voice.line(queue_, delivery);
    if (line.ok()) {
      outbox_.add(std::move(receipt), line.value());
      continue;
    }
    orders.push_back(bury_of(delivery, line.error().text));
    orders.back().said = failure_line(queue_, delivery, orders.back());
    open_.erase(open);
  }
}

std::vector<VerdictOrder> JobStream::flush(const Workshop& shop) {
  std::vector<VerdictOrder> orders;
  while (wants_to_write()) {
    make_lines(shop, orders);
    // It reads no more: what is open is retried when it has ended.
    if (!outbox_.write_to(in_.get())) in_.close();
    if (!outbox_.empty()) break;
  }
  if (stage_ == Stage::leaving && outbox_.empty()) in_.close();
  return orders;
}

void JobStream::release_unread(const std::string& receipt, std::vector<VerdictOrder>& orders) {
  const auto open = open_.find(receipt);
  if (open == open_.end()) return;
  orders.push_back(release_of(open->second.arrival.delivery));
  open_.erase(open);
}

std::vector<VerdictOrder> JobStream::close_input() {
  std::vector<VerdictOrder> orders;
  if (is_over()) return orders;
  for (const std::string& receipt : outbox_.take_back()) release_unread(receipt, orders);
  for (const std::string& receipt : waiting_) release_unread(receipt, orders);
  waiting_.clear();
  if (stage_ == Stage::up) stage_ = Stage::leaving;
  if (back_ && back_->stage == Stage::up) back_->stage = Stage::leaving;
  if (outbox_.empty()) in_.close();
  return orders;
}

std::optional<VerdictOrder> JobStream::order_of(const Workshop& shop, std::string_view line) const {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view verdict = take_word(line);
  const std::string_view receipt = take_word(line);
  for (const VerdictName& each : kVerdicts) {
    if (each.name != verdict) continue;
    const auto open = open_.find(receipt);
    if (open == open_.end()) return std::nullopt;
    VerdictOrder order;
    order.receipt = open->second.arrival.delivery.receipt;
    order.id = open->second.arrival.delivery.id;
    order.verdict = each.verdict;
    const bool may_wait = each.verdict == Verdict::release || each.verdict == Verdict::retry;
    if (may_wait && !line.empty()) {
      const DurationParse delay = parse_duration(take_word(line));
      if (delay.fault != DurationFault::none) return std::nullopt;
      order.delay_ms = delay.ms;
    } else if (each.verdict == Verdict::retry) {
      order.delay_ms = backoff_for(shop, open->second.arrival.delivery);
    }
    const bool may_reason = each.verdict == Verdict::bury || each.verdict == Verdict::retry;
    if (!may_reason && !line.empty()) return std::nullopt;
    order.reason = line;
    return order;
  }
  return std::nullopt;
}

/// False: it is no verdict on an open message.
bool JobStream::take_line(const Workshop& shop, std::string_view line, std::vector<VerdictOrder>& orders) {
  std::optional<VerdictOrder> order = line.size() > kLineBytesMax ? std::nullopt : order_of(shop, line);
  if (!order) return false;
  const auto open = open_.find(order->receipt.text());
  if (order->verdict == Verdict::bury || order->verdict == Verdict::retry) {
    VerdictOrder told = *order;
    if (told.reason.empty()) told.reason = "returned by the command";
    told.reason.resize(std::min(told.reason.size(), kReasonBytesMax));  // as it is kept
    order->said = failure_line(queue_, open->second.arrival.delivery, told);
  } else if (shop.options.verbose) {
    order->said = success_line(queue_, open->second.arrival.delivery, *order);
  }
  open_.erase(open);
  orders.push_back(std::move(*order));
  return true;
}

void JobStream::dismiss(int64_t term_at_ms) {
  close_input();
  step_at_ms_ = term_at_ms;
}

/// It works at one after the other, as far as can be seen from here; those that it tells of at once share.
void JobStream::share_time(std::span<VerdictOrder> orders) {
  if (orders.empty()) return;
  const uint64_t each_us = busy_.us() / orders.size();
  for (VerdictOrder& order : orders) order.run_us = each_us;
  busy_ = Stopwatch();
}

bool JobStream::note_settled(const Receipt& receipt) {
  if (open_.erase(receipt.text()) == 0) return false;
  take_end_back();
  busy_ = Stopwatch();
  return true;
}

/// A bounded part of what there is. False: nothing now, or no more.
bool JobStream::take_some(const Workshop& shop, std::vector<VerdictOrder>& orders) {
  std::array<char, kReadBytes> buffer;
  const ssize_t got = out_ ? ::read(out_.get(), buffer.data(), buffer.size()) : 0;
  if (got < 0) return false;
  if (got == 0) {
    // It may be the front of a line that says something else: a receipt, a time.
    if (!line_.empty()) {
      shop.remark("the command ended in the middle of a line: " + in_quotes(line_.substr(0, kToldBytes)) +
                  "; it is ignored");
    }
    line_.clear();
    out_.close();
    in_.close();  // it can say nothing more; the end of its input lets it end
    return false;
  }
  line_.append(buffer.data(), static_cast<size_t>(got));
  size_t from = 0, refused = 0;
  const size_t before = orders.size();
  for (size_t end; (end = line_.find('\n', from)) != std::string::npos; from = end + 1) {
    const std::string_view line = std::string_view(line_).substr(from, end - from);
    if (std::exchange(skips_, false) || take_line(shop, line, orders)) continue;
    if (++refused > kToldMax) continue;
    shop.remark("the command wrote a line that is not a verdict on an open message: " +
                in_quotes(line.substr(0, kToldBytes)) + "; it is ignored");
  }
  if (refused > kToldMax) {
    shop.remark("the command wrote " + std::to_string(refused - kToldMax) +
                " more such lines; they are ignored");
  }
  line_.erase(0, from);
  share_time(std::span(orders).subspan(before));
  take_end_back();
  if (line_.size() > kLineBytesMax && !std::exchange(skips_, true))
    shop.remark("the command wrote a line of more than 64 KiB; it is ignored");
  if (skips_) line_.clear();
  return true;
}

std::vector<VerdictOrder> JobStream::read_verdicts(const Workshop& shop) {
  std::vector<VerdictOrder> orders;
  take_some(shop, orders);
  return orders;
}

std::vector<VerdictOrder> JobStream::note_end(const Workshop& shop, bool stopped, int64_t now_ms) {
  status_ = status_of(process_);
  stopped_ = stopped;
  std::vector<VerdictOrder> orders;
  // What it said before it ended counts; what it left behind may write for ever.
  for (int i = 0; i < kStreamReadsMax && take_some(shop, orders); ++i) {
  }
  err_.finish();
  in_.close();
  out_.close();
  stage_ = Stage::killed;
  back_.reset();
  end_.begin(process_, !open_.empty(), now_ms);
  return orders;
}

std::vector<VerdictOrder> JobStream::finish(const Workshop& shop) {
  std::vector<VerdictOrder> orders;
  if (!open_.empty() && !stopped_)
    shop.say("the command ended with " + counted(open_.size(), "open message"));
  const uint64_t run_us = open_.empty() ? 0 : busy_.us() / open_.size();
  for (const auto& [receipt, open] : open_) {
    const Delivery& delivery = open.arrival.delivery;
    const std::string why = open.timed_out ? reason_of(status_, Ending::timed_out)
                                           : "the command ended (" + reason_of(status_, Ending::none) + ")";
    const bool gives_back = stopped_ && !open.timed_out;
    VerdictOrder order = gives_back ? release_of(delivery) : retry_of(shop, delivery, why);
    order.run_us = run_us;
    if (!gives_back) {
      order.exit = status_.exit;
      order.signal = status_.signal;
      order.stderr_tail = err_.tail();
      order.said = failure_line(queue_, delivery, order);
    }
    orders.push_back(std::move(order));
  }
  open_.clear();
  return orders;
}

}  // namespace fq::worker
