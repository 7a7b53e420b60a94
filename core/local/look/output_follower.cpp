#include "core/local/look/output_follower.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/shared/sleep.h"

namespace fq {

namespace {

using What = FollowStep::What;

constexpr size_t kFollowedPieceBytes = 64 * 1024;  // arbitrary: what a pipe holds

}  // namespace

LocalFollower::~LocalFollower() {
  if (!call_) return;
  // In this order: whoever writes the run says that it is over, then asks whether we call. One of us takes it
  // away.
  parts_.runs.end_call(*call_);
  if (run_ && run_->is_over()) static_cast<void>(shelf_->disk->remove(RunFile::path_of({id_, delivery_})));
}

Result<LocalFollower::MessageSnapshot> LocalFollower::read_message() {
  MessageSnapshot seen;
  EndRequest request;
  request.ids = {&id_, 1};
  request.wait_ms = 0;
  FQ_TRY_SET(const EndStatus status, parts_.watcher.await_end(request));
  seen.ended = status == EndStatus::ended;
  bool there = false;
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = schedule().messages().find(id_);
    there = slot.has_value();
    if (slot) seen.deliveries = schedule().messages().entry(*slot).deliveries;
    const auto outcome = slot ? std::nullopt : schedule().past().outcome(id_);
    seen.moved = outcome && outcome->verdict == RecordType::left;
    seen.timer_ms = schedule().timers().next_ms();
    return {};
  }));
  if (there || !seen.ended) return seen;
  FQ_TRY_SET(const std::optional<MessageInfo> info, parts_.ended.find(id_));
  seen.known = info.has_value();
  if (info) seen.deliveries = info->deliveries;
  return seen;
}

Result<FollowStep> LocalFollower::next(const FollowWait& wait) {
  const int64_t deadline_ms = wait.wait_ms ? clock().boot_ms() + std::min(*wait.wait_ms, kWaitMaxMs) : kNever;
  for (;;) {
    SegmentHeader& shared = header();
    const WaiterCounted counted(&shared.end_waiters);
    const uint32_t seen_end = shared.end_event.load(std::memory_order_acquire);
    EventWord* const bell = shelf_ ? &shelf_->calls->bell(id_) : nullptr;
    const uint32_t seen_bell = bell != nullptr ? bell->load(std::memory_order_acquire) : 0;
    // What is there is told without a look at anything else: much may come.
    if (run_) {
      FQ_TRY_SET(const std::optional<FollowStep> step, read_run());
      if (step) return *step;
    }
    FQ_TRY_SET(const MessageSnapshot seen, read_message());
    FQ_TRY_SET(const std::optional<FollowStep> step, look(seen, wait.only_there));
    if (step) return *step;
    if (wait.interrupt != nullptr && wait.interrupt->raised()) return step_of(What::interrupted);
    FQ_TRY(link_.attachment().check_place());
    const int64_t now_ms = clock().boot_ms();
    if (now_ms >= deadline_ms) return step_of(What::timed_out);
    std::array<WatchedWord, 3> words = {
        {{&shared.end_event, seen_end}, {&shared.end_event, seen_end}, {&shared.end_event, seen_end}}};
    if (bell != nullptr) words[1] = {bell, seen_bell};
    if (wait.interrupt != nullptr) words[2] = {wait.interrupt->word(), 0};
    const int64_t until_ms = std::min({deadline_ms, seen.timer_ms, now_ms + kWaitCapMs});
    const SignalsAllowed allowed(true);
    sleep_on(words, shared.end_event, seen_end, std::max<int64_t>(until_ms - now_ms, 0));
  }
}

/// Where the run that is read has nothing to tell now: the next one, or the end.
Result<std::optional<FollowStep>> LocalFollower::look(const MessageSnapshot& seen, bool only_there) {
  if (run_) return std::optional<FollowStep>();
  FQ_TRY_SET(const bool opened, open_run(seen.deliveries, only_there));
  if (opened) return std::optional(step_of(What::run, Channel::out, delivery_));
  if (!seen.ended) return std::optional<FollowStep>();
  FQ_TRY(take_kept(seen));
  return std::optional(left_.next().value_or(step_of(What::ended)));
}

Result<std::optional<FollowStep>> LocalFollower::read_run() {
  // In this order: what was written before it was over is read before its end is told.
  const bool over = run_->is_over();
  const bool done = over || !run_->has_writer();
  for (const Channel channel : kChannels) {
    FQ_TRY_SET(const std::optional<FollowStep> step, read_channel(channel));
    if (step) return step;
  }
  if (!done) return std::optional<FollowStep>();
  for (const Channel channel : kChannels) {
    const bool told = std::exchange(told_lost_[static_cast<size_t>(channel)], true);
    const uint64_t lost = run_->lost(channel);
    if (!told && lost > 0) return std::optional(step_of(What::missing, channel, lost));
  }
  const bool whole = over || run_->is_over();
  // Taken away only when it is read: until then a follower that is slow may still find it.
  if (call_ && run_->call() == number(*call_))
    static_cast<void>(shelf_->disk->remove(RunFile::path_of({id_, delivery_})));
  run_.reset();
  FQ_POINT("follow.run_read");
  if (!whole) return std::optional(step_of(What::broken_off, Channel::out, delivery_));
  return std::optional<FollowStep>();
}

Result<std::optional<FollowStep>> LocalFollower::read_channel(Channel channel) {
  uint64_t& position = positions_[static_cast<size_t>(channel)];
  // Who asks for more has used what it got.
  if (call_ && run_->call() == number(*call_)) run_->note_read(channel, position);
  const uint64_t end = ends_[static_cast<size_t>(channel)];
  const uint64_t wanted = end - std::min(end, position);
  buffer_.resize(std::min<uint64_t>(kFollowedPieceBytes, wanted));
  FQ_TRY_SET(const RunFile::Piece piece,
             run_->read(channel, position, std::as_writable_bytes(std::span(buffer_))));
  position += piece.bytes + piece.missing;
  if (piece.missing > 0) return std::optional(step_of(What::missing, channel, piece.missing));
  if (piece.bytes == 0) return std::optional<FollowStep>();
  return std::optional(step_of(channel, std::string_view(buffer_).substr(0, piece.bytes)));
}

/// The next one that left something to read.
Result<bool> LocalFollower::open_run(uint32_t deliveries, bool only_there) {
  // A run that is about to write makes its file later: what was looked for in vain is looked for again, once
  // more even when there is a newer run. Its worker may have died in between, and nobody else takes away what
  // it wrote.
  if (read_delivery_ < delivery_) --delivery_;
  while (shelf_ && delivery_ < deliveries) {
    ++delivery_;
    FQ_TRY_SET(run_, RunFile::open(*shelf_->disk, {id_, delivery_}));
    if (!run_) continue;
    read_delivery_ = delivery_;
    std::fill(std::begin(positions_), std::end(positions_), 0);
    for (const Channel channel : kChannels)
      ends_[static_cast<size_t>(channel)] = only_there ? run_->written(channel) : UINT64_MAX;
    std::fill(std::begin(told_lost_), std::end(told_lost_), false);
    return true;
  }
  return false;
}

/// Of its last run, where we have not read that.
Result<void> LocalFollower::take_kept(const MessageSnapshot& seen) {
  if (std::exchange(took_kept_, true)) return {};
  const bool was_read = seen.known ? read_delivery_ == seen.deliveries : read_delivery_ > 0;
  if (was_read) return {};
  FQ_TRY_SET(kept_, parts_.ended.output(id_));
  // Who calls asks to be told of the end: where nothing is, it could not be kept.
  if (!kept_ && !seen.known && !seen.moved && call_) left_.add(step_of(What::missing));
  if (kept_) left_.add(*kept_);
  return {};
}

}  // namespace fq
