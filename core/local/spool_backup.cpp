#include "core/local/spool_backup.h"

// System.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
// fq, below us.
#include "core/base/disk/no_such_spool.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/queue_directory.h"
#include "core/local/local_queue.h"
#include "core/local/queue_backup.h"

namespace fq {

namespace {

constexpr const char* kUnfinishedCopy = ".unfinished";
constexpr const char* kUnfinishedQueues = ".unfinished/queues";
constexpr const char* kPolicyFile = "fq.toml";
constexpr int64_t kMovesTimeoutMs = 30'000;      // arbitrary
constexpr size_t kPolicyBlockBytes = 64 * 1024;  // arbitrary

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : "";
}

}  // namespace

SpoolBackup::SpoolBackup(const std::string& spool, const BackupRequest& request, Clock& clock)
    : request_(request),
      spool_(without_slashes(spool)),
      directory_(without_slashes(request.directory)),
      object_("'" + directory_ + "'"),
      clock_(clock) {}

Result<std::vector<std::string>> SpoolBackup::make() {
  if (::access(spool_.c_str(), F_OK) != 0 && errno == ENOENT) return no_such_spool(spool_);
  FQ_TRY(check_spool(spool_));
  Result<void> copied = take_place();
  if (copied.ok()) copied = copy_all();
  if (copied.ok()) return std::move(notices_);
  undo();
  return copied.error();
}

Result<void> SpoolBackup::take_place() {
  made_ = ::mkdir(directory_.c_str(), 0700) == 0;
  if (!made_ && errno != EEXIST) return sys_error("mkdir", object_, errno);
  Descriptor place(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (place.get() < 0 && errno == ENOTDIR)
    return Error{ErrorKind::usage, object_ + ": is not a directory; name one that is not there or empty",
                 ENOTDIR};
  if (place.get() < 0) return sys_error("open", object_, errno);
  FQ_TRY(check_spool(directory_));
  FQ_TRY(check_place_is_outside());
  place_ = std::move(place);
  Result<void> empty = check_place_is_empty();
  if (!empty.ok()) place_ = Descriptor(-1);  // what is in it is not ours to take away
  FQ_TRY(std::move(empty));
  if (::mkdirat(place_.get(), kUnfinishedCopy, 0700) != 0) return sys_error("mkdir", object_, errno);
  FQ_POINT("backup.place");
  return {};
}

Result<void> SpoolBackup::check_place_is_empty() const {
  DIR* listing = ::fdopendir(::openat(place_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (listing == nullptr) return sys_error("list", object_, errno);
  bool empty = true, unfinished = false;
  while (const dirent* item = ::readdir(listing)) {
    const std::string_view name(item->d_name);
    if (name == "." || name == "..") continue;
    empty = false;
    unfinished = unfinished || name == kUnfinishedCopy;
  }
  ::closedir(listing);
  if (empty) return {};
  const std::string what = unfinished ? ": holds an unfinished backup; remove it, or name another"
                                      : ": is not empty; name a directory that is not there or empty";
  return Error{ErrorKind::usage, object_ + what, ENOTEMPTY};
}

/// Below the spool it would be taken for a part of it, by the next backup too.
Result<void> SpoolBackup::check_place_is_outside() const {
  const std::string spool = real_path(spool_) + "/", here = real_path(directory_) + "/";
  if (!here.starts_with(spool)) return {};
  return Error{ErrorKind::usage, object_ + ": lies in the spool itself; name a directory elsewhere", 0};
}

Result<void> SpoolBackup::copy_all() {
  // What is on its way between two queues is in one of them before both are copied, and none goes meanwhile:
  // it could be in the copy of neither. Listed only then: a queue that is made or gets its name while this
  // waits may have what another had.
  FQ_TRY_SET(const std::optional<MoveLock> lock, MoveLock::take(spool_, kMovesTimeoutMs));
  FQ_TRY_SET(std::vector<std::string> names, list_queue_directories(spool_));
  if (!lock && !names.empty()) return MoveLock::taken(spool_);
  for (const std::string& name : names) FQ_TRY(finish_moves(name, *lock));
  if (request_.queue) FQ_TRY(copy_queue(*request_.queue));
  if (request_.queue) names.clear();
  for (const std::string& name : names) {
    Result<void> copied = copy_queue(name);
    // Removed since it was listed, or nothing but a directory.
    if (!copied.ok() && copied.error().kind != ErrorKind::missing) return copied;
  }
  FQ_TRY(copy_policy());
  return make_it_a_spool();
}

Result<void> SpoolBackup::finish_moves(const std::string& name, const MoveLock& held) {
  Result<std::unique_ptr<Attachment>> attached = Attachment::open({spool_, name}, false, clock_);
  // Removed since it was listed, or nothing but a directory.
  if (!attached.ok() && attached.error().kind == ErrorKind::missing) return {};
  if (!attached.ok()) return std::move(attached).error();
  LocalQueue queue(std::move(attached).value(), clock_, false);
  return queue.finish_moves(held);
}

Result<void> SpoolBackup::copy_queue(const std::string& name) {
  FQ_TRY_SET(std::unique_ptr<Attachment> attachment, Attachment::open({spool_, name}, false, clock_));
  Link link(std::move(attachment), clock_);
  QueueBackup backup(link, {directory_ + "/" + kUnfinishedCopy, name}, clock_, request_.interrupt);
  Result<void> made = backup.make();
  link.leave(false);
  std::vector<std::string> notices = backup.take_notices();
  if (made.ok() && notices.empty()) static_cast<void>(give_back(name));
  for (std::string& notice : notices) notices_.push_back(std::move(notice));
  return made;
}

/// What has stayed for the copy: perhaps nobody calls the queue any more. Needs: nothing is damaged, since
/// that stays for a repair.
Result<void> SpoolBackup::give_back(const std::string& name) {
  FQ_TRY_SET(std::unique_ptr<Attachment> attachment, Attachment::open({spool_, name}, false, clock_));
  return LocalQueue(std::move(attachment), clock_, false).keep_house();
}

/// As it is now; whoever it belongs to and however it came there, the copy is ours.
Result<void> SpoolBackup::copy_policy() {
  const std::string object = "'" + spool_ + "/" + kPolicyFile + "'";
  const Descriptor from(::open((spool_ + "/" + kPolicyFile).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (from.get() < 0 && errno == ENOENT) return {};
  if (from.get() < 0) return sys_error("open", object, errno);
  const Descriptor to(::openat(place_.get(), kPolicyFile, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (to.get() < 0) return sys_error("open", object_, errno);
  std::vector<char> block(kPolicyBlockBytes);
  for (;;) {
    const ssize_t got = ::read(from.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return sys_error("read", object, errno);
    if (got == 0) break;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to.get(), block.data() + done, static_cast<size_t>(got - done));
      if (put < 0 && errno != EINTR) return sys_error("write", object_, errno);
      done += std::max<ssize_t>(put, 0);
    }
  }
  return ::fsync(to.get()) == 0 ? Result<void>() : sys_error("sync", object_, errno);
}

Result<void> SpoolBackup::make_it_a_spool() {
  // A spool without a queue has none to copy.
  if (::mkdirat(place_.get(), kUnfinishedQueues, 0700) != 0 && errno != EEXIST)
    return sys_error("mkdir", object_, errno);
  FQ_POINT("backup.whole");
  if (::renameat(place_.get(), kUnfinishedQueues, place_.get(), "queues") != 0)
    return sys_error("rename", object_, errno);
  FQ_POINT("backup.renamed");
  static_cast<void>(::unlinkat(place_.get(), kUnfinishedCopy, AT_REMOVEDIR));
  return ::fsync(place_.get()) == 0 ? Result<void>() : sys_error("sync", object_, errno);
}

void SpoolBackup::undo() {
  if (place_.get() >= 0) {
    remove_tree(place_.get(), kUnfinishedCopy);
    ::unlinkat(place_.get(), kPolicyFile, 0);
  }
  if (made_) ::rmdir(directory_.c_str());
}

}  // namespace fq
