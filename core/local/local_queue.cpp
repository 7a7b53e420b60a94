#include "core/local/local_queue.h"

// System.
#include <array>
#include <charconv>
#include <cstdlib>
// fq, this room.
#include "core/local/look/event_log.h"
#include "core/local/consume/local_endings.h"
#include "core/local/local_pages.h"
#include "core/local/files/queue_directory.h"
// fq, below us.
#include "core/base/text/tenant_name.h"

namespace fq {

namespace {

constexpr size_t kScratchEvents = 1024;  // more ids than one transaction ever takes

Error name_error(std::string_view what, std::string_view name, std::string_view fault) {
  std::string text(what);
  text.append(" '").append(name).append("': ").append(fault);
  return Error{ErrorKind::usage, std::move(text), 0};
}

Result<void> check_queue_name(const std::string& queue) {
  const std::string_view fault = queue_name_fault(queue);
  if (fault.empty()) return {};
  return name_error("queue", queue, fault);
}

}  // namespace

LocalQueue::LocalQueue(std::unique_ptr<Attachment> attachment, Clock& clock, bool until_exit)
    : Linked(own_link_),
      own_link_(std::move(attachment), clock),
      writer_(link_, *this),
      events_(link_, writer_, *this),
      messages_(link_),
      until_exit_(until_exit),
      pages_(std::make_unique<Pages>(*this)) {
  event_items_.reserve(kScratchEvents);
  body_.bytes.reserve(4096);
}

LocalQueue::~LocalQueue() {
  leave_holder();
  link_.leave(until_exit_);
}

Caps LocalQueue::caps() const {
  Caps caps;
  caps.exact_global_order = true;
  caps.kernel_death_detection = true;
  caps.wake_latency_bound_ms = 5;
  caps.fairness_bound = 1;
  return caps;
}

Result<void> LocalQueue::follow_wall_clock() {
  const int64_t measured = clock().wall_ms() - clock().boot_ms();
  return locked([&]() -> Result<void> {
    const int64_t noted = header().wall_minus_boot_ms;
    if (std::abs(measured - noted) <= kClockStepMs) return {};
    ClockRecord clock;
    std::memcpy(clock.boot_id, link_.attachment().kernel().boot_id, sizeof clock.boot_id);
    clock.wall_minus_boot_ms = measured;
    encode_clock(body_, clock);
    const uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
    // A full queue has no room for it: the next command tries again.
    if (writer_.room_for(Purpose::event, bytes) != Obstacle::none) return {};
    const Now now = gate().now();
    Change change(link_, {now.boot_ms, now.boot_ms + measured});
    change.append(body_);
    change.txn().set(header().wall_minus_boot_ms, measured);
    change.commit();
    return {};
  });
}

Result<std::unique_ptr<Queue>> open_queue(const Location& location, const OpenOptions& options) {
  FQ_TRY(check_queue_name(location.queue));
  Clock& clock = options.clock == nullptr ? system_clock() : *options.clock;
  FQ_TRY_SET(std::unique_ptr<Attachment> attachment, Attachment::open(location, options.create, clock));
  auto queue = std::make_unique<LocalQueue>(std::move(attachment), clock, options.until_exit);
  FQ_TRY(queue->follow_wall_clock());
  return std::unique_ptr<Queue>(std::move(queue));
}

Result<std::vector<std::string>> list_queues(const std::string& spool) {
  return list_queue_directories(spool);
}

Result<bool> create_queue(const Location& location) {
  FQ_TRY(check_queue_name(location.queue));
  FQ_TRY_SET(const bool made, make_queue_directory(location.spool, location.queue));
  FQ_TRY_SET(const std::unique_ptr<Attachment> attachment, Attachment::open(location, true, system_clock()));
  return made;
}

Result<void> remove_queue(const Location& location) {
  FQ_TRY(check_queue_name(location.queue));
  FQ_TRY_SET(const std::unique_ptr<Disk> disk, open_queue_directory(location.spool, location.queue));
  FQ_TRY_SET(LockFile rebuild, LockFile::open(*disk, "rebuild", true));
  FQ_TRY_SET(LockFile lock, LockFile::open(*disk, "lock", true));
  FQ_TRY_SET(const bool no_rebuilder, rebuild.try_lock(LockFile::Mode::exclusive));
  FQ_TRY_SET(const bool alone, lock.try_lock(LockFile::Mode::exclusive));
  if (!alone || !no_rebuilder) {
    const std::string pids = join_pids(alone ? rebuild.holders() : lock.holders());
    return Error{ErrorKind::later,
                 queue_object(location.queue) + ": in use by process " + pids + "; end it first", 0};
  }
  if (!names_lock(location.spool, location.queue, lock.device(), lock.inode())) {
    return Error{ErrorKind::missing, queue_object(location.queue) + ": somebody else removed it", 0};
  }
  return remove_queue_directory(location.spool, location.queue);
}

}  // namespace fq
