#include "core/local/write/link.h"

// System.
#include <unistd.h>

#include <mutex>
#include <utility>
#include <vector>
// fq, this room.
#include "core/local/files/process_info.h"
#include "core/local/shared/segment_size.h"

namespace fq {

Result<void> Link::attach_anew() {
  LifeLock* const left = holder_ ? &holder_slot().life : nullptr;
  FQ_TRY(attachment_->attach());
  store_ = &attachment_->store();
  ++segments_seen_;
  // What it held was carried over under our pid. It must not be held any more when the old segment goes with
  // this object.
  if (left != nullptr) left->end();
  holder_.reset();
  if (started_ != 0) store().memory().keep_from_children();
  session_ = std::make_unique<Session>(*attachment_, clock_);
  return {};
}

void Link::find_started() {
  if (started_ == 0) started_ = process_started(static_cast<uint32_t>(::getpid())).value_or(0);
}

void Link::leave(bool until_exit) {
  const bool works = header().phase.load(std::memory_order_acquire) == Phase::working;
  if (works && !session_->gate.has_given_up()) {
    session_->flusher.tidy();
    if (segment_is_too_large(header())) {
      session_.reset();  // it speaks of the segment that goes
      attachment_->make_smaller();
    }
  }
  if (!until_exit) return;
  static_cast<void>(session_.release());
  static_cast<void>(attachment_.release());
}

void Link::stay() {
  static std::mutex mutex;
  static auto& stayed = *new std::vector<std::pair<decltype(session_), decltype(attachment_)>>;
  const std::lock_guard lock(mutex);
  stayed.emplace_back(std::move(session_), std::move(attachment_));
}

}  // namespace fq
