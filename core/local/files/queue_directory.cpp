#include "core/local/files/queue_directory.h"

// System.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
// fq, below us.
#include "core/base/disk/no_such_spool.h"
#include "core/base/disk/own_user.h"
#include "core/base/descriptor.h"
#include "core/base/fault_point.h"
#include "core/base/tenant_name.h"
#include "core/engine/no_such_queue.h"
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
// A name that no queue can have: a crash in between leaves something that list and open never see.
constexpr std::string_view kRemovedStart = ".removed-";
constexpr int kRemoveTries = 200;

std::string spool_object(const std::string& spool) { return "spool '" + spool + "'"; }

Result<void> check_owner(int directory, const std::string& object) {
  struct stat about {};
  if (::fstat(directory, &about) != 0) return sys_error("stat", object, errno);
  if (about.st_uid != own_user()) {
    return Error{ErrorKind::denied, object + ": belongs to another user, and a spool to one", 0};
  }
  if ((about.st_mode & kOthersMayWrite) != 0) {
    return Error{ErrorKind::denied, object + ": others may write to it; chmod go-w it", 0};
  }
  return {};
}

Error cannot_open(const std::string& object, int sys) {
  if (sys == ELOOP || sys == ENOTDIR) return Error{ErrorKind::unusable, object + ": is not a directory", sys};
  return sys_error("open", object, sys);
}

/// Of the way to a queue the part that cannot be gone through; `object` when that is none of those above it.
std::string object_at_fault(const std::string& spool, std::string object) {
  const auto is_well = [](const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && ::access(path.c_str(), X_OK) == 0;
  };
  if (!is_well(spool)) return spool_object(spool);
  const std::string queues = spool + "/queues";
  return is_well(queues) ? object : "'" + queues + "'";
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// mkdir of one. None: nothing is there to make it in.
Result<std::optional<bool>> make_one(const std::string& path, const std::string& object) {
  if (::mkdir(path.c_str(), kDirectoryMode) == 0) return std::optional(true);
  if (errno == EEXIST) return std::optional(false);
  if (errno == ENOENT) return std::optional<bool>();
  return sys_error("mkdir", object, errno);
}

/// mkdir -p. True: the last one was made. Nothing is synced: check_place does that.
Result<bool> make_directories(const std::string& path, const std::string& object) {
  FQ_TRY_SET(std::optional<bool> made, make_one(path, object));
  if (made) return *made;
  const std::string parent = parent_of(path);
  struct stat about {};
  const bool is_there = ::lstat(parent.c_str(), &about) == 0;
  if (!is_there) FQ_TRY(make_directories(parent, object));
  // Where another process had made the parent meanwhile, it is well now.
  FQ_TRY_SET(made, make_one(path, object));
  if (made) return *made;
  if (::stat(parent.c_str(), &about) != 0)
    return Error{ErrorKind::unusable, object + ": '" + parent + "' is a link to what is not there", ENOENT};
  // One that is there and still gives ENOENT takes no directories at all (/proc).
  return Error{ErrorKind::unusable,
               object + ": '" + parent + "' takes no directories; set FQ_SPOOL to a directory on a disk", 0};
}

std::string trimmed(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

struct RefusedKind {
  unsigned long magic;
  const char* name;
};
// statfs(2); what is shared between machines, or decides itself when a sync is one.
constexpr std::array<RefusedKind, 10> kRefusedKinds = {{{0x6969, "NFS"},
                                                        {0xff534d42, "CIFS"},
                                                        {0xfe534d42, "SMB"},
                                                        {0x517b, "SMB"},
                                                        {0x01021997, "9p"},
                                                        {0x5346414f, "AFS"},
                                                        {0x00c36400, "Ceph"},
                                                        {0x0bd00bd0, "Lustre"},
                                                        {0x65735546, "FUSE"},
                                                        {0x73757245, "Coda"}}};

/// Nobody else may be able to put another directory in place of one above this one. Those that are not there
/// are passed over: whoever makes them makes them for himself.
Result<void> check_named_parents(std::string path, const std::string& object) {
  for (;;) {
    path = parent_of(path);
    struct stat about {};
    const bool there = ::stat(path.c_str(), &about) == 0;
    if (!there && errno != ENOENT) return sys_error("stat", object, errno);
    const bool sticky = (about.st_mode & S_ISVTX) != 0;
    if (there && (about.st_mode & S_IWOTH) != 0 && !sticky) {
      return Error{ErrorKind::denied, object + ": others may replace it: '" + path + "' is writable by all",
                   0};
    }
    if (path == "/" || path == ".") return {};
  }
}

/// Those of its name, and those of what that leads to by links.
Result<void> check_parents(const std::string& directory, const std::string& object) {
  FQ_TRY(check_named_parents(trimmed(directory), object));
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(directory.c_str(), nullptr), std::free);
  return real ? check_named_parents(real.get(), object) : Result<void>();
}

/// Of SPOOL/queues, where it is there: it may be a link.
Result<void> check_queues(const std::string& queues) {
  const std::string object = "'" + queues + "'";
  struct stat about {};
  if (::lstat(queues.c_str(), &about) != 0) return {};
  const Descriptor opened(::open(queues.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 && errno == ENOENT)
    return Error{ErrorKind::unusable,
                 object + ": is a link to what is not there; make that, or remove the link", ENOENT};
  if (opened.get() < 0) return cannot_open(object, errno);
  FQ_TRY(check_owner(opened.get(), object));
  return S_ISLNK(about.st_mode) ? check_parents(queues, object) : Result<void>();
}

/// From queues/ upwards. Whoever made a directory may have died before its name was synced, and whoever comes
/// later finds it there without a trace of that: so it is not left to the maker.
Result<void> sync_names(const std::string& spool, const std::string& object) {
  dev_t device = 0;
  for (std::string path = trimmed(spool) + "/queues";; path = parent_of(path)) {
    const Descriptor opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat about {};
    // Of another user or another file system: no name in it is of our making.
    if (opened.get() < 0 || ::fstat(opened.get(), &about) != 0 || about.st_uid != own_user()) return {};
    if (device != 0 && about.st_dev != device) return {};
    device = about.st_dev;
    if (::fsync(opened.get()) != 0) return sys_error("sync", object, errno);
    if (path == "/" || path == ".") return {};
  }
}

/// What a crash left of queues that were removed: nobody else would ever give its room back.
void remove_leftovers(const std::string& spool) {
  const Descriptor queues(::open((trimmed(spool) + "/queues").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (queues.get() < 0) return;
  DIR* listing = ::fdopendir(::fcntl(queues.get(), F_DUPFD_CLOEXEC, 0));
  if (listing == nullptr) return;
  while (const dirent* item = ::readdir(listing)) {
    if (std::string_view(item->d_name).starts_with(kRemovedStart)) remove_tree(queues.get(), item->d_name);
  }
  ::closedir(listing);
}

std::string lock_path(const std::string& spool, const std::string& queue) {
  return trimmed(spool) + "/queues/" + queue + "/lock";
}

/// What cannot be looked into is one: whoever goes there is told why.
bool is_queue(const std::string& spool, const std::string& name) {
  if (::access((trimmed(spool) + "/queues/" + name + "/segment").c_str(), F_OK) == 0) return true;
  const Result<std::unique_ptr<Disk>> disk = open_queue_directory(spool, name);
  return !disk.ok() || !is_unmade(**disk);
}

}  // namespace

bool remove_tree(int parent, const char* name) {
  const Descriptor here(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (here.get() < 0) return errno == ENOENT;  // somebody else does the same
  DIR* listing = ::fdopendir(::fcntl(here.get(), F_DUPFD_CLOEXEC, 0));
  if (listing == nullptr) return false;
  while (const dirent* item = ::readdir(listing)) {
    const std::string_view child(item->d_name);
    if (child == "." || child == "..") continue;
    if (::unlinkat(here.get(), item->d_name, 0) != 0) remove_tree(here.get(), item->d_name);
  }
  ::closedir(listing);
  return ::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

std::string queue_object(std::string_view queue) { return "queue '" + std::string(queue) + "'"; }

Result<std::unique_ptr<Disk>> open_queue_directory(const std::string& spool, const std::string& queue) {
  const std::string path = trimmed(spool) + "/queues/" + queue;
  Descriptor opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened.get() < 0) {
    const int sys = errno;
    const std::string object = object_at_fault(trimmed(spool), queue_object(queue));
    struct stat about {};
    if (sys != ENOENT && ::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode))
      return Error{ErrorKind::unusable, object + ": is a symlink, which no queue may be", sys};
    if (sys != ENOENT) return cannot_open(object, sys);
    if (::stat(trimmed(spool).c_str(), &about) != 0 && errno == ENOENT) return no_such_spool(trimmed(spool));
    return no_such_queue(queue);
  }
  FQ_TRY(check_owner(opened.get(), queue_object(queue)));
  return open_disk(opened.release(), queue_object(queue));
}

Result<bool> make_queue_directory(const std::string& spool, const std::string& queue) {
  const std::string top = trimmed(spool);
  // First, so that a place that is refused is left as it was.
  FQ_TRY(check_above(top));
  FQ_TRY_SET([[maybe_unused]] const bool spool_made, make_directories(top, spool_object(spool)));
  const Descriptor spool_directory(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (spool_directory.get() < 0 && errno == ENOENT) return no_such_spool(top);
  if (spool_directory.get() < 0) return cannot_open(spool_object(spool), errno);
  FQ_TRY(check_owner(spool_directory.get(), spool_object(spool)));
  FQ_TRY(check_queues(top + "/queues"));
  FQ_TRY_SET([[maybe_unused]] const bool queues_made,
             make_directories(top + "/queues", "'" + top + "/queues'"));
  remove_leftovers(top);
  FQ_TRY_SET(const bool made,
             make_directories(top + "/queues/" + queue, object_at_fault(top, queue_object(queue))));
  FQ_TRY_SET(const std::unique_ptr<Disk> disk, open_queue_directory(spool, queue));
  for (const char* name : kQueueDirectories) FQ_TRY(disk->make_directory(name));
  return made;
}

bool is_unmade(Disk& queue) {
  const Result<std::vector<std::string>> names = queue.list("");
  if (!names.ok()) return false;
  const auto has = [&](std::string_view name) {
    return std::find(names->begin(), names->end(), name) != names->end();
  };
  for (const std::string& name : *names) {
    const bool is_directory =
        std::find(kQueueDirectories.begin(), kQueueDirectories.end(), name) != kQueueDirectories.end();
    const Result<std::vector<std::string>> below =
        is_directory ? queue.list(name) : std::vector<std::string>();
    const bool is_known = is_directory || name == "lock" || name == "rebuild" || name == kNewSegment;
    if (!is_known || !below.ok() || !below->empty()) return false;
  }
  // The journal is made before the lock: somebody took it away.
  return has("journal") || !has("lock");
}

bool names_lock(const std::string& spool, const std::string& queue, uint64_t device, uint64_t inode) {
  struct stat about {};
  return ::stat(lock_path(spool, queue).c_str(), &about) == 0 && about.st_dev == device &&
         about.st_ino == inode;
}

bool is_taken_away(const std::string& spool, const std::string& queue, uint64_t device, uint64_t inode) {
  if (!spool.starts_with('/')) return false;  // this process may be elsewhere by now
  struct stat about {};
  if (::stat(lock_path(spool, queue).c_str(), &about) != 0) return errno == ENOENT || errno == ENOTDIR;
  return about.st_dev != device || about.st_ino != inode;
}

std::string_view refused_file_system(unsigned long magic) {
  for (const RefusedKind& refused : kRefusedKinds) {
    if ((magic & 0xffffffffUL) == refused.magic) return refused.name;
  }
  return {};
}

Result<void> check_above(const std::string& spool) { return check_parents(spool, spool_object(spool)); }

Result<void> check_spool(const std::string& spool) {
  FQ_TRY(check_above(spool));
  const std::string object = spool_object(spool);
  const Descriptor opened(::open(trimmed(spool).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 && errno != ENOENT) return cannot_open(object, errno);
  if (opened.get() < 0) {
    // One that a push makes is well.
    if (Error none = no_such_spool(trimmed(spool)); none.kind != ErrorKind::missing) return none;
  } else {
    FQ_TRY(check_owner(opened.get(), object));
  }
  return check_queues(trimmed(spool) + "/queues");
}

Result<void> check_place(const std::string& spool, Disk& queue) {
  const std::string object = spool_object(spool);
  struct statfs about {};
  if (::statfs(spool.c_str(), &about) != 0) return sys_error("statfs", object, errno);
  const std::string_view refused = refused_file_system(static_cast<unsigned long>(about.f_type));
  if (!refused.empty()) {
    return Error{
        ErrorKind::unusable,
        object + ": lies on " + std::string(refused) + "; fq needs a local file system (set FQ_SPOOL)", 0};
  }
  FQ_TRY(check_above(spool));
  for (const char* name : kQueueDirectories) FQ_TRY(queue.make_directory(name));
  FQ_TRY(queue.sync_directory(""));
  return sync_names(spool, object);
}

Result<std::vector<std::string>> list_queue_directories(const std::string& spool) {
  const std::string path = trimmed(spool) + "/queues";
  std::vector<std::string> names;
  DIR* listing = ::opendir(path.c_str());
  if (listing == nullptr) {
    const int sys = errno;
    if (sys == ENOENT) return names;
    return cannot_open(object_at_fault(trimmed(spool), spool_object(spool)), sys);
  }
  errno = 0;
  while (const dirent* item = ::readdir(listing)) {
    if (queue_name_fault(item->d_name).empty() && is_queue(spool, item->d_name))
      names.emplace_back(item->d_name);
    errno = 0;
  }
  const int failed = errno;
  ::closedir(listing);
  // A part of the queues is no answer.
  if (failed != 0) return sys_error("list", spool_object(spool), failed);
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> remove_queue_directory(const std::string& spool, const std::string& queue) {
  const std::string object = queue_object(queue);
  const std::string path = trimmed(spool) + "/queues";
  const Descriptor queues(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (queues.get() < 0) return cannot_open(object, errno);
  remove_leftovers(spool);
  uint64_t random = 0;
  fill_random(&random, sizeof random);
  const std::string doomed = std::string(kRemovedStart) + queue + "-" + std::to_string(random);
  if (::renameat(queues.get(), queue.c_str(), queues.get(), doomed.c_str()) != 0) {
    return sys_error("rename", object, errno);
  }
  // From here on it is gone for everybody, whatever else fails: never "try later".
  if (::fsync(queues.get()) != 0) {
    Error error = sys_error("sync", object, errno);
    error.kind = ErrorKind::io;
    error.text += "; it is removed, but a power cut may bring it back";
    return error;
  }
  // Whoever had opened it may still make a file there, before he sees that it is a queue no more.
  for (int tries = 0; tries < kRemoveTries; ++tries) {
    if (remove_tree(queues.get(), doomed.c_str())) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Error{ErrorKind::io, object + ": removed, but not all of its files: delete " + path + "/" + doomed,
               0};
}

Result<void> rename_queue_directory(const std::string& spool, const std::string& queue,
                                    const std::string& name) {
  const std::string object = queue_object(queue);
  const std::string path = trimmed(spool) + "/queues";
  const Descriptor queues(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (queues.get() < 0) return cannot_open(object, errno);
  // Never over another one, not even one that is being made and is empty yet: its maker would go on in a
  // directory without a name.
  if (::renameat2(queues.get(), queue.c_str(), queues.get(), name.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST)
      return Error{ErrorKind::usage, queue_object(name) + ": exists; choose another name", EEXIST};
    return sys_error("rename", object, errno);
  }
  FQ_POINT("rename.renamed");
  if (::fsync(queues.get()) == 0) return {};
  Error error = sys_error("sync", object, errno);
  error.kind = ErrorKind::io;
  error.text += "; it is renamed, but after a power cut it may have its old name";
  return error;
}

}  // namespace fq
