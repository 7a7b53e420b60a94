#include "core/policy/policy.h"

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/descriptor.h"
#include "core/base/text/escape.h"

namespace fq {

namespace {

FileIdentity identity_of(const struct stat& info, std::string_view queue) {
  const auto ns = [](const timespec& at) { return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec; };
  return {info.st_dev,      info.st_ino,      static_cast<uint64_t>(info.st_size),
          ns(info.st_ctim), ns(info.st_mtim), crc32c(0, as_bytes(queue))};
}

Error config(const std::string& path, std::string_view what) {
  return Error{ErrorKind::config, path + ": " + std::string(what), 0};
}

/// A policy that somebody else can write is somebody else's policy.
Result<void> check_owner(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) return config(path, "is no regular file");
  if (info.st_uid != ::geteuid()) {
    return Error{
        ErrorKind::denied,
        path + ": belongs to user " + std::to_string(info.st_uid) + ", not to you; use a file of your own",
        0};
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return config(path, "can be written by others; run chmod go-w on it");
  }
  if (info.st_size > static_cast<off_t>(kPolicyFileBytesMax)) return config(path, "is larger than 1MiB");
  return {};
}

Result<std::string> read_whole(int descriptor, const std::string& path) {
  std::string text;
  char piece[16 * 1024];
  for (;;) {
    const ssize_t got = ::read(descriptor, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return sys_error("read", path, errno);
    if (got == 0) return text;
    text.append(piece, static_cast<size_t>(got));
    if (text.size() > kPolicyFileBytesMax) return config(path, "is larger than 1MiB");
  }
}

struct Read {
  std::string text;
  PolicyFile file;
  std::optional<struct stat> info;  // of before the reading: a change meanwhile is read next time
};

Result<Read> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0 && errno == ENOENT) {
    FQ_TRY_SET(PolicyFile nothing, PolicyFile::parse("", path));
    return Read{"", std::move(nothing), std::nullopt};
  }
  if (file.get() < 0) return sys_error("open", path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return sys_error("stat", path, errno);
  FQ_TRY(check_owner(info, path));
  FQ_TRY_SET(std::string text, read_whole(file.get(), path));
  FQ_TRY_SET(PolicyFile parsed, PolicyFile::parse(text, path));
  return Read{std::move(text), std::move(parsed), info};
}

}  // namespace

std::string policy_path(const std::string& spool) { return spool + "/fq.toml"; }

Result<PolicyFile> read_policy_file(const std::string& spool) {
  FQ_TRY_SET(Read read, read_file(policy_path(spool)));
  return std::move(read.file);
}

Result<FilePolicy> read_policy_for(const Location& location) {
  FQ_TRY_SET(const PolicyFile file, read_policy_file(location.spool));
  return file.for_queue(location.queue);
}

namespace {

/// For this queue, and for all that are there.
Result<void> check_queues(const PolicyFile& file, const Location& location) {
  FQ_TRY(file.for_queue(location.queue));
  const Result<std::vector<std::string>> queues = list_queues(location.spool);
  if (!queues) return {};
  for (const std::string& queue : *queues) {
    Result<FilePolicy> policy = file.for_queue(queue);
    if (policy) continue;
    Error error = std::move(policy).error();
    error.text += " (in queue " + in_quotes(queue) + ")";
    return error;
  }
  return {};
}

}  // namespace

Result<void> check_policy(const Location& location) {
  FQ_TRY_SET(const PolicyFile file, read_policy_file(location.spool));
  return check_queues(file, location);
}

Result<void> check_policy_text(const std::string& text, const Location& location) {
  const std::string path = policy_path(location.spool);
  if (text.size() > kPolicyFileBytesMax) return config(path, "is larger than 1MiB");
  FQ_TRY_SET(const PolicyFile file, PolicyFile::parse(text, path));
  return check_queues(file, location);
}

namespace {

/// Of no file: what was kept is loaded, and the file is still to be read.
constexpr FileIdentity kKept{
    .device = 0, .inode = 0, .size = 0, .changed_ns = -1, .modified_ns = -1, .for_queue = 0};

/// What the queue holds of a file that cannot be used now. A segment that was made anew holds nothing of it:
/// then it is what was kept when it was good.
Result<void> hold_last_good(Queue& queue, const Location& location) {
  FQ_TRY_SET(const bool holds_nothing, queue.policy_is_current(FileIdentity{}));
  if (!holds_nothing) return {};
  FQ_TRY_SET(const std::string text, queue.policy_kept());
  if (text.empty()) return {};
  FQ_TRY_SET(const PolicyFile file, PolicyFile::parse(text, "the last good fq.toml"));
  FQ_TRY_SET(const FilePolicy policy, file.for_queue(location.queue));
  return queue.policy_load(without_lines(policy), kKept);
}

Result<void> load(Queue& queue, const Location& location) {
  FQ_TRY_SET(const Read read, read_file(policy_path(location.spool)));
  FQ_TRY_SET(const FilePolicy policy, read.file.for_queue(location.queue));
  // Before the file is noted as loaded: what breaks off here is begun anew by the next command. So is what
  // finds no room, which keeps nobody from going on.
  if (Schedules* schedules = queue.schedules()) {
    Result<void> loaded = schedules->load(schedules_of(policy));
    if (!loaded && loaded.error().kind == ErrorKind::later) return {};
    if (!loaded) return loaded;
  }
  const FileIdentity identity = read.info ? identity_of(*read.info, location.queue) : FileIdentity{};
  return queue.policy_load(without_lines(policy), identity, &read.text);
}

}  // namespace

Result<void> load_schedules(Queue& queue, const Location& location) {
  Schedules* schedules = queue.schedules();
  if (schedules == nullptr) return {};
  FQ_TRY_SET(const FilePolicy policy, read_policy_for(location));
  return schedules->load(schedules_of(policy));
}

Result<void> bring_policy_up_to_date(Queue& queue, const Location& location) {
  const std::string path = policy_path(location.spool);
  struct stat info {};
  FileIdentity identity;
  if (::stat(path.c_str(), &info) == 0) {
    identity = identity_of(info, location.queue);
  } else if (errno != ENOENT) {
    return sys_error("stat", path, errno);
  }
  FQ_TRY_SET(const bool current, queue.policy_is_current(identity));
  if (current) return {};
  Result<void> loaded = load(queue, location);
  if (!loaded && is_policy_fault(loaded.error())) FQ_TRY(hold_last_good(queue, location));
  return loaded;
}

}  // namespace fq
