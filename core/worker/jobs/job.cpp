#include "core/worker/jobs/job.h"

// System.
#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "core/worker/process/standard_input.h"

namespace fq::worker {

namespace {

constexpr int64_t kDayMs = 24 * 3600 * 1000;
constexpr int64_t kRoomLookMs = 50;  // between two looks whether a caller has read; chosen

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// Ours does not block, the job's does.
Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return sys_error("pipe", "a job's output", errno);
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return pipe;
}

/// All messages of a batch, as the command reads them.
Result<std::string> batch_text(const Workshop& shop, const std::string& queue, const Load& load) {
  std::string text;
  for (const Arrival& arrival : load.arrivals) {
    if (shop.options.batch_format == BatchFormat::ndjson) {
      FQ_TRY_SET(const std::string line, shop.voice.line(queue, arrival.delivery));
      text += line;
      continue;
    }
    FQ_TRY_SET(const std::string payload, arrival.delivery.payload.read_all());
    text += payload;
    text.push_back(shop.options.batch_format == BatchFormat::lines ? '\n' : '\0');
  }
  return text;
}

/// Before each line of its output, where that was asked for.
std::string tag_of(const Options& options, const Load& load) {
  if (!options.tags_output) return "";
  const Delivery& first = load.arrivals[0].delivery;
  const std::string id = load.many ? "-" : std::to_string(number(first.id));
  return id + "\t" + escape_terminal(first.tenant) + "\t";
}

Result<Descriptor> input_of(const Workshop& shop, const std::string& queue, const Load& load) {
  if (!load.many) return readable(load.arrivals[0].delivery.payload);
  FQ_TRY_SET(const std::string text, batch_text(shop, queue, load));
  return readable(text);
}

}  // namespace

int64_t Job::retention_ms_of(const Workshop& shop) const {
  return retention_of(shop.settings.retention_ms, load_.arrivals[0].delivery.command.has_value());
}

std::optional<int64_t> Job::keep_ms(const Workshop& shop) const {
  const OutputPolicy policy = shop.options.output;
  std::optional<int64_t> asked = load_.arrivals[0].delivery.keep_ms;
  const int64_t retention_ms = retention_ms_of(shop);
  if (!asked && load_.arrivals[0].delivery.call) asked = kDayMs;
  if (!asked && retention_ms > 0) asked = retention_ms;
  const bool by_policy = policy == OutputPolicy::keep || policy == OutputPolicy::fail;
  if (!asked && by_policy) asked = kDayMs;
  if (load_.many) asked.reset();  // an output of many is nobody's own
  return asked;
}

Result<std::unique_ptr<Job>> Job::start(const Workshop& shop, const std::string& queue, uint32_t slot,
                                        Load& load) {
  std::unique_ptr<Job> job(new Job);
  job->load_ = std::move(load);
  Result<void> launched = job->launch(shop, queue, slot, job->load_);
  if (!launched.ok()) {
    load = std::move(job->load_);
    return std::move(launched).error();
  }
  job->settled_.assign(job->load_.arrivals.size(), false);
  job->limit_time(shop, job->load_);
  return job;
}

Result<void> Job::launch(const Workshop& shop, const std::string& queue, uint32_t slot, Load& load) {
  const Options& options = shop.options;
  const Delivery& first = load.arrivals[0].delivery;
  Launch launch;
  std::string payload;
  if (!load.many && wants_payload(options.command) && !options.shell) {
    FQ_TRY_SET(payload, first.payload.read_all());
  }
  FQ_TRY_SET(launch.argv, words_for(options, first, payload));
  launch.environment = load.many ? shop.environment.for_many(queue, first.tenant, load.arrivals.size(), slot)
                                 : shop.environment.for_message(queue, first, slot);
  if (options.command.empty() && first.command) launch.directory = first.command->cwd;
  launch.nice = options.nice;
  launch.umask = options.umask;
  launch.limits = &options.limits;
  for (const Arrival& arrival : load.arrivals) {
    const bool known = !launch.kept.empty() && arrival.kept && launch.kept.back() == arrival.kept->get();
    if (arrival.kept && !known) launch.kept.push_back(arrival.kept->get());
  }
  FQ_TRY_SET(const Descriptor in, input_of(shop, queue, load));
  const bool keeps = keep_ms(shop).has_value();
  const bool passes = options.output == OutputPolicy::inherit;
  const std::string tag = tag_of(options, load);
  // A reader of ours that leaves is no matter of the job's: it does not write to him itself.
  const bool reads = keeps || !tag.empty() || (passes && shop.out.has_reader());
  if (keeps) transcript_ = Transcript(std::move(load.arrivals[0].output), options.output_bytes_max);
  Transcript* const transcript = keeps ? &transcript_ : nullptr;
  Pipe out, err;
  Descriptor nowhere;
  launch.in = in.get();
  launch.out = STDOUT_FILENO;
  if (reads) {
    FQ_TRY_SET(out, make_pipe());
    launch.out = out.write_end.get();
  } else if (!passes) {
    FQ_TRY_SET(nowhere, open_null());
    launch.out = nowhere.get();
  }
  FQ_TRY_SET(err, make_pipe());
  launch.err = err.write_end.get();
  FQ_TRY_SET(process_, worker::launch(launch));
  if (reads)
    out_ = Capture(std::move(out.read_end), {passes ? &shop.out : nullptr, transcript, Channel::out, 0, tag});
  err_ = Capture(std::move(err.read_end),
                 {passes ? &shop.err : nullptr, transcript, Channel::err, kTailBytes, tag});
  return {};
}

void Job::limit_time(const Workshop& shop, const Load& load) {
  grace_ms_ = shop.options.grace_ms;
  const int64_t limit_ms = limit_of(shop, load.arrivals[0].delivery);
  if (limit_ms > 0) limit_at_ms_ = system_clock().boot_ms() + limit_ms;
}

void Job::on_time(int64_t now_ms) {
  if (is_over()) return;
  transcript_.on_time(now_ms);
  if (kill_at_ms_ != kNever) {
    if (now_ms >= kill_at_ms_) kill(ending_);
    return;
  }
  if (now_ms >= limit_at_ms_) end(Ending::timed_out, now_ms, grace_ms_);
}

bool Job::waits_for_caller() const {
  return !transcript_.has_room(Channel::out) || !transcript_.has_room(Channel::err);
}

void Job::hold_back(int64_t now_ms) {
  if (room_look_ms_ != kNever) return;
  held_since_ms_ = now_ms;
  room_look_ms_ = now_ms + 1;
}

/// A caller that stands still for long is asked for less often.
bool Job::has_room_again(int64_t now_ms) {
  if (now_ms < room_look_ms_) return false;
  const bool again = !waits_for_caller();
  room_look_ms_ =
      again ? kNever : now_ms + std::clamp<int64_t>((now_ms - held_since_ms_) / 8, 1, kRoomLookMs);
  return again;
}

void Job::end(Ending why, int64_t now_ms, int64_t grace_ms) {
  if (is_over()) return;
  ending_ = why;
  signal_group(process_, SIGTERM);
  signal_group(process_, SIGCONT);  // one that has stopped itself is to hear it too
  kill_at_ms_ = std::min(kill_at_ms_, now_ms + grace_ms);
}

void Job::extend(int64_t until_ms) {
  if (limit_at_ms_ == kNever) return;  // there is nothing to move
  limit_at_ms_ = until_ms;
  // One that has caught its TERM has been told that it may go on.
  if (ending_ != Ending::timed_out) return;
  ending_ = Ending::none;
  kill_at_ms_ = kNever;
}

void Job::kill(Ending why) {
  if (is_over()) return;
  if (ending_ == Ending::none) ending_ = why;
  signal_group(process_, SIGKILL);
  limit_at_ms_ = kill_at_ms_ = kNever;
}

bool Job::holds(const Receipt& receipt) const {
  return std::any_of(load_.arrivals.begin(), load_.arrivals.end(),
                     [&](const Arrival& each) { return each.delivery.receipt == receipt; });
}

void Job::note_settled(const Receipt& receipt) {
  for (size_t i = 0; i < load_.arrivals.size(); ++i) {
    if (load_.arrivals[i].delivery.receipt == receipt) settled_[i] = true;
  }
}

bool Job::close(int64_t now_ms) {
  if (!is_over()) {
    status_ = status_of(process_);
    ran_us_ = runs_.us();
    const Verdict verdict = verdict_of(status_, ending_);
    // What a run left of its group would run beside the next one, or go on with what was to end.
    const bool kills = ending_ != Ending::none || verdict == Verdict::retry || verdict == Verdict::release;
    end_.begin(process_, kills, now_ms);
    limit_at_ms_ = kill_at_ms_ = kNever;
  }
  if (!is_gone() && !end_.is_gone(process_, now_ms)) return false;
  if (!is_gone()) {
    gone_at_ms_ = now_ms;
    out_.finish();
    err_.finish();
  }
  look_at_ms_ = now_ms + next_look_ms(now_ms - gone_at_ms_);
  return transcript_.close();
}

std::vector<VerdictOrder> Job::finish(const Workshop& shop, std::vector<Load>& again) {
  const Verdict verdict = verdict_of(status_, ending_);
  std::vector<VerdictOrder> orders;
  const bool failed = verdict != Verdict::ack;
  const bool singly = load_.many && load_.arrivals.size() > 1 && failed && ending_ != Ending::stopped;
  if (const std::string fault = transcript_.fault(); !fault.empty())
    shop.say("output of message " + std::to_string(number(load_.arrivals[0].delivery.id)) +
             ": only its beginning is kept: " + fault);
  JobOutput output = transcript_.take();
  const std::optional<int64_t> kept_ms = keep_ms(shop);
  const bool keeps = kept_ms && (failed || shop.options.output != OutputPolicy::fail ||
                                 load_.arrivals[0].delivery.keep_ms || retention_ms_of(shop) > 0);
  if (keeps) output.keep_ms = *kept_ms;
  const uint64_t run_us = load_.ran_us + ran_us_ / load_.arrivals.size();
  for (size_t i = 0; i < load_.arrivals.size(); ++i) {
    if (settled_[i]) continue;
    Arrival& arrival = load_.arrivals[i];
    if (singly) {
      Load one;
      one.source = load_.source;
      one.many = true;
      one.ran_us = run_us;
      one.arrivals.push_back(std::move(arrival));
      again.push_back(std::move(one));
      continue;
    }
    orders.push_back(order_for(shop, arrival.delivery, status_, ending_, err_.tail()));
    orders.back().run_us = run_us;
    if (keeps && orders.back().verdict != Verdict::release) orders.back().output = output;
  }
  return orders;
}

}  // namespace fq::worker
