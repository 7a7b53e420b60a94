// poller - the one place where the worker's main thread sleeps: epoll, with a name for each descriptor.
#pragma once

// System.
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
// fq, below us.
#include "core/base/descriptor.h"

namespace fq::worker {

/// The kind of a descriptor, and whose it is: a slot's index, or which of the two passages, or of leavings the
/// descriptor; else 0.
enum class Watched : uint32_t { signals, books, process, out, err, stream_in, stream_out, passage, leavings };

struct Event {
  Watched what;
  uint32_t whose;
};

class Poller {
 public:
  Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  bool usable() const { return static_cast<bool>(epoll_); }

  /// False where it cannot be waited for (a regular file).
  bool watch(int descriptor, Event event, uint32_t for_what = EPOLLIN) const {
    return control(EPOLL_CTL_ADD, descriptor, event, for_what);
  }
  /// For nothing: only that its other end has gone is told still, again and again.
  bool change(int descriptor, Event event, uint32_t for_what) const {
    return control(EPOLL_CTL_MOD, descriptor, event, for_what);
  }
  void forget(int descriptor) const { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr); }

  /// At most `wait_ms` (-1: for ever).
  std::span<const Event> wait(int wait_ms) {
    const int count = ::epoll_wait(epoll_.get(), ready_.data(), static_cast<int>(ready_.size()), wait_ms);
    const size_t n = count < 0 ? 0 : static_cast<size_t>(count);
    for (size_t i = 0; i < n; ++i) {
      const uint64_t name = ready_[i].data.u64;
      events_[i] = {static_cast<Watched>(name >> 32), static_cast<uint32_t>(name)};
    }
    return std::span(events_).first(n);
  }

 private:
  bool control(int operation, int descriptor, Event event, uint32_t for_what) const {
    epoll_event asked{};
    asked.events = for_what;
    asked.data.u64 = uint64_t{static_cast<uint32_t>(event.what)} << 32 | event.whose;
    return ::epoll_ctl(epoll_.get(), operation, descriptor, &asked) == 0;
  }

  static constexpr size_t kEventsMax = 64;
  Descriptor epoll_;
  std::array<epoll_event, kEventsMax> ready_;
  std::array<Event, kEventsMax> events_;
};

}  // namespace fq::worker
