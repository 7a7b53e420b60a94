#include "tests/fakes/model_output.h"

// System.
#include <algorithm>
#include <chrono>
#include <thread>

namespace fq::test {

namespace {

using What = FollowStep::What;

size_t index(Channel channel) { return static_cast<size_t>(channel); }

constexpr uint64_t kUnreadMax = 4 << 20;

class ModelRunOutput final : public RunOutput {
 public:
  ModelRunOutput(std::shared_ptr<ModelRuns> runs, const Delivery& delivery, const RunTerms& terms)
      : runs_(std::move(runs)),
        id_(delivery.id),
        delivery_(delivery.delivery),
        call_(delivery.call),
        terms_(terms) {}
  ~ModelRunOutput() override {
    const std::lock_guard lock(runs_->mutex);
    if (!run_) return;
    run_->over = run_->left = true;
    // Who reads it already goes on.
    if (!calls()) runs_->runs[number(id_)].erase(delivery_);
  }
  bool is_called() const override { return call_.has_value(); }
  Result<void> open() override {
    const std::lock_guard lock(runs_->mutex);
    run_ = runs_->runs[number(id_)][delivery_] = std::make_shared<ModelRun>();
    return {};
  }
  bool has_room(Channel channel) override {
    const std::lock_guard lock(runs_->mutex);
    if (!terms_.waits_for_call || !calls()) return true;
    return run_->texts[index(channel)].size() - run_->read[index(channel)] < kUnreadMax;
  }
  void write(Channel channel, std::string_view bytes) override {
    const std::lock_guard lock(runs_->mutex);
    run_->texts[index(channel)].append(bytes);
  }
  void close() override {
    const std::lock_guard lock(runs_->mutex);
    run_->over = true;
  }
  uint64_t kept_bytes(Channel channel) const override { return std::min(size(channel), terms_.bytes_max); }
  Gap gap(Channel channel) const override {
    const uint64_t cut = size(channel) - kept_bytes(channel);
    return cut == 0 ? Gap{} : Gap{head(), cut};
  }
  Result<void> read_kept(Channel channel, uint64_t from, MutableBytes to) const override {
    const uint64_t cut = size(channel) - kept_bytes(channel);
    for (std::byte& byte : to) {
      byte = static_cast<std::byte>(run_->texts[index(channel)][from < head() ? from : from + cut]);
      ++from;
    }
    return {};
  }

 private:
  uint64_t size(Channel channel) const { return run_->texts[index(channel)].size(); }
  uint64_t head() const { return terms_.bytes_max - terms_.bytes_max / 2; }
  bool calls() const { return call_ && runs_->calls.count(number(*call_)) > 0; }

  const std::shared_ptr<ModelRuns> runs_;
  const MessageId id_;
  const uint32_t delivery_;
  const std::optional<CallId> call_;
  const RunTerms terms_;
  std::shared_ptr<ModelRun> run_;
};

class ModelFollower final : public OutputFollower {
 public:
  ModelFollower(std::shared_ptr<ModelRuns> runs, Queue& queue, MessageId id, std::optional<CallId> call)
      : runs_(std::move(runs)), queue_(queue), id_(id), call_(call) {}
  ~ModelFollower() override {
    const std::lock_guard lock(runs_->mutex);
    if (call_) runs_->calls.erase(number(*call_));
  }

  Result<FollowStep> next(const FollowWait& wait) override {
    const int64_t start_ms = system_clock().boot_ms();
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {  // between two looks: it has no word
      EndRequest request;
      request.ids = {&id_, 1};
      request.wait_ms = 0;
      FQ_TRY_SET(const EndStatus status, queue_.await_end(request));
      if (const std::optional<FollowStep> step = look(wait.only_there)) return *step;
      if (status == EndStatus::ended && !run_) return end();
      if (wait.interrupt != nullptr && wait.interrupt->raised()) return step_of(What::interrupted);
      if (wait.wait_ms && system_clock().boot_ms() - start_ms >= *wait.wait_ms)
        return step_of(What::timed_out);
    }
  }

 private:
  static FollowStep step_of(What what) {
    FollowStep step;
    step.what = what;
    return step;
  }
  std::optional<FollowStep> look(bool only_there) {
    const std::lock_guard lock(runs_->mutex);
    for (;;) {
      if (!run_ && !open(only_there)) return std::nullopt;
      if (std::exchange(fresh_, false)) {
        FollowStep step = step_of(What::run);
        step.count = delivery_;
        return step;
      }
      if (const std::optional<FollowStep> step = read()) return step;
      if (!run_->over) return std::nullopt;
      if (call_) runs_->runs[number(id_)].erase(delivery_);
      run_.reset();
    }
  }
  bool open(bool only_there) {
    const auto& runs = runs_->runs[number(id_)];
    const auto found = runs.upper_bound(delivery_);
    if (found == runs.end()) return false;
    delivery_ = found->first;
    run_ = found->second;
    fresh_ = true;
    for (size_t i = 0; i < 2; ++i) {
      positions_[i] = 0;
      ends_[i] = only_there ? run_->texts[i].size() : UINT64_MAX;
    }
    return true;
  }
  std::optional<FollowStep> read() {
    for (const Channel channel : kChannels) {
      uint64_t& position = positions_[index(channel)];
      const std::string& text = run_->texts[index(channel)];
      if (call_) run_->read[index(channel)] = position;
      const uint64_t end = std::min<uint64_t>(text.size(), ends_[index(channel)]);
      if (position == end) continue;
      piece_ = text.substr(position, end - position);
      position = end;
      FollowStep step = step_of(What::bytes);
      step.channel = channel;
      step.bytes = piece_;
      return step;
    }
    return std::nullopt;
  }
  Result<FollowStep> end() {
    FQ_TRY_SET(const std::optional<MessageInfo> info, queue_.get(id_));
    const bool was_read = info ? delivery_ == info->deliveries : delivery_ > 0;
    if (!std::exchange(took_kept_, true) && !was_read) {
      FQ_TRY_SET(kept_, queue_.output(id_));
      if (kept_) plan_kept();
    }
    if (steps_.empty()) return step_of(What::ended);
    const FollowStep step = steps_.back();
    steps_.pop_back();
    return step;
  }
  void plan_kept() {
    for (const Channel channel : {Channel::err, Channel::out}) {
      const std::string_view text = channel == Channel::out ? kept_->out : kept_->err;
      const Gap gap = channel == Channel::out ? kept_->out_gap : kept_->err_gap;
      const uint64_t at = std::min<uint64_t>(gap.at, text.size());
      const auto add = [&](What what, std::string_view bytes, uint64_t count) {
        FollowStep step = step_of(what);
        step.channel = channel;
        step.bytes = bytes;
        step.count = count;
        steps_.push_back(step);
      };
      if (at < text.size()) add(What::bytes, text.substr(at), 0);
      if (gap.bytes > 0) add(What::missing, {}, gap.bytes);
      if (at > 0) add(What::bytes, text.substr(0, at), 0);
    }
  }

  const std::shared_ptr<ModelRuns> runs_;
  Queue& queue_;
  const MessageId id_;
  const std::optional<CallId> call_;
  std::shared_ptr<ModelRun> run_;
  bool fresh_ = false;
  uint32_t delivery_ = 0;
  uint64_t positions_[2] = {0, 0};
  uint64_t ends_[2] = {0, 0};
  std::string piece_;
  bool took_kept_ = false;
  std::optional<JobOutput> kept_;
  std::vector<FollowStep> steps_;
};

}  // namespace

std::shared_ptr<RunOutput> model_run_output(std::shared_ptr<ModelRuns> runs, const Delivery& delivery,
                                            const RunTerms& terms) {
  return std::make_shared<ModelRunOutput>(std::move(runs), delivery, terms);
}

std::unique_ptr<OutputFollower> model_follower(std::shared_ptr<ModelRuns> runs, Queue& queue, MessageId id,
                                               std::optional<CallId> call) {
  return std::make_unique<ModelFollower>(std::move(runs), queue, id, call);
}

JobOutput model_kept(const JobOutput& output) {
  if (!output.run) return output;
  JobOutput kept;
  kept.keep_ms = output.keep_ms;
  for (const Channel channel : kChannels) {
    std::string& text = channel == Channel::out ? kept.out : kept.err;
    text.resize(output.run->kept_bytes(channel));
    (channel == Channel::out ? kept.out_gap : kept.err_gap) = output.run->gap(channel);
    static_cast<void>(output.run->read_kept(channel, 0, std::as_writable_bytes(std::span(text))));
  }
  return kept;
}

}  // namespace fq::test
