#include "core/local/local_engine.h"

// fq, this room.
#include "core/local/care/doctor.h"
#include "core/local/files/lock_file.h"
#include "core/local/files/move_lock.h"
#include "core/local/files/process_info.h"
#include "core/local/files/queue_directory.h"
#include "core/local/files/queue_mark.h"
#include "core/local/local_queue.h"
#include "core/local/spool_backup.h"

namespace fq {

Result<std::unique_ptr<Queue>> LocalEngine::open(const Location& location, const OpenOptions& options) const {
  Clock& clock = options.clock == nullptr ? system_clock() : *options.clock;
  const Holes holes = options.repair ? Holes::taken : Holes::refused;
  FQ_TRY_SET(std::unique_ptr<Attachment> attachment,
             Attachment::open(location, options.create, clock, holes));
  auto queue = std::make_unique<LocalQueue>(std::move(attachment), clock, options.until_exit);
  FQ_TRY(queue->follow_wall_clock());
  // What another process had begun to move, and did not end: that queue may be at fault, and not this one.
  static_cast<void>(queue->finish_moves());
  return std::unique_ptr<Queue>(std::move(queue));
}

Result<std::vector<std::string>> LocalEngine::list(const std::string& spool) const {
  return list_queue_directories(spool);
}

Result<std::string> LocalEngine::queue_marked(const std::string& spool, std::string_view mark) const {
  if (mark.size() < kMarkBytes) return std::string();
  return find_queue_marked(spool, mark.substr(0, kMarkBytes));
}

Result<bool> LocalEngine::create(const Location& location, const CreateOptions& options) const {
  if (options.shards.value_or(1) != 1)
    return Error{ErrorKind::usage, "shards: a queue in a directory has one; only on a server there are more",
                 0};
  if (options.events_ms)
    return Error{
        ErrorKind::usage,
        "events: a queue in a directory keeps events as long as its journal needs their file; only on "
        "a server it takes a time",
        0};
  FQ_TRY_SET(const bool made, make_queue_directory(location.spool, location.queue));
  FQ_TRY_SET(const std::unique_ptr<Attachment> attachment, Attachment::open(location, true, system_clock()));
  return made;
}

namespace {

constexpr int64_t kRenameTimeoutMs = 1'000;  // arbitrary: longer than what a look needs to finish some moves

/// A queue to which nobody else is attached, and nobody will be while this lives.
struct Alone {
  std::unique_ptr<Disk> disk;
  LockFile rebuild;
  LockFile lock;
};

Result<Alone> take_alone(const Location& location) {
  FQ_TRY_SET(std::unique_ptr<Disk> disk, open_queue_directory(location.spool, location.queue));
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
    return Error{ErrorKind::missing, queue_object(location.queue) + ": somebody else removed or renamed it",
                 0};
  }
  return Alone{std::move(disk), std::move(rebuild), std::move(lock)};
}

}  // namespace

Result<void> LocalEngine::remove(const Location& location) const {
  FQ_TRY_SET(const Alone alone, take_alone(location));
  return remove_queue_directory(location.spool, location.queue);
}

Result<void> LocalEngine::rename(const Location& location, const std::string& name) const {
  FQ_TRY(open_queue_directory(location.spool, location.queue));
  // A process that goes through all queues has listed them: it would look for this one under its old name.
  FQ_TRY_SET(const std::optional<MoveLock> lock, MoveLock::take(location.spool, kRenameTimeoutMs));
  if (!lock) return MoveLock::taken(location.spool);
  FQ_TRY_SET(const Alone alone, take_alone(location));
  return rename_queue_directory(location.spool, location.queue, name);
}

Result<std::vector<std::string>> LocalEngine::back_up(const std::string& spool,
                                                      const BackupRequest& request) const {
  return SpoolBackup(spool, request, system_clock()).make();
}

std::vector<DoctorRow> LocalEngine::examine(const std::string& spool,
                                            const std::optional<std::string>& queue) const {
  std::vector<DoctorRow> rows;
  examine_place(spool, queue, rows);
  examine_system(rows);
  return rows;
}

}  // namespace fq
