#include "core/policy/policy_source.h"

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
// fq, below us.
#include "core/api/policy_text.h"
#include "core/base/crc32c.h"
#include "core/base/descriptor.h"
// fq, this room.
#include "core/policy/policy_file.h"

namespace fq {

namespace {

FileIdentity identity_of(const struct stat& info) {
  const auto ns = [](const timespec& at) { return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec; };
  return {info.st_dev,      info.st_ino,      static_cast<uint64_t>(info.st_size),
          ns(info.st_ctim), ns(info.st_mtim), 0};
}

Error config(const std::string& path, std::string_view what) {
  return Error{ErrorKind::config, path + ": " + std::string(what), 0};
}

/// Whatever keeps it from being read is its own fault: nobody is kept from what has nothing to do with it.
Error unreadable(std::string_view call, const std::string& path) {
  Error error = sys_error(call, path, errno);
  if (error.kind == ErrorKind::unusable || error.kind == ErrorKind::io) error.kind = ErrorKind::config;
  return error;
}

/// A policy that somebody else can write is somebody else's policy.
Result<void> check_owner(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) return config(path, "is not a regular file");
  if (info.st_uid != ::geteuid()) {
    return Error{
        ErrorKind::denied,
        path + ": belongs to user " + std::to_string(info.st_uid) + ", not to you; use a file of your own",
        0};
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return config(path, "can be written by others; run chmod go-w on it");
  }
  if (info.st_size > static_cast<off_t>(kPolicyFileBytesMax)) return policy_too_long(path);
  return {};
}

Result<std::string> read_whole(int descriptor, const std::string& path) {
  std::string text;
  char piece[16 * 1024];
  for (;;) {
    const ssize_t got = ::read(descriptor, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable("read", path);
    if (got == 0) return text;
    text.append(piece, static_cast<size_t>(got));
    if (text.size() > kPolicyFileBytesMax) return policy_too_long(path);
  }
}

/// Whatever it is called, no two versions are the same.
FileIdentity identity_of(const std::string& version) {
  if (version == kNoPolicyVersion) return {};
  FileIdentity identity;
  identity.inode = crc32c(0, as_bytes(version));
  identity.size = crc32c(1, as_bytes(version));
  return identity;
}

/// What stands where no file is found: nothing, or a link whose file is gone. Nobody takes a policy back by
/// that, as by removing the file.
Result<std::optional<struct stat>> link_to_nothing(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::optional<struct stat>();
    return unreadable("lstat", path);
  }
  // A file that has come meanwhile is found by the next look.
  return S_ISLNK(info.st_mode) ? std::optional(info) : std::optional<struct stat>();
}

Result<PolicySource> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0 && errno == ENOENT) {
    FQ_TRY_SET(const auto link, link_to_nothing(path));
    if (link) return config(path, "is a link to a file that is not there");
    return PolicySource();
  }
  if (file.get() < 0) return unreadable("open", path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return unreadable("stat", path);
  FQ_TRY(check_owner(info, path));
  FQ_TRY_SET(std::string text, read_whole(file.get(), path));
  return PolicySource{std::move(text), true, identity_of(info)};
}

bool is_file(const std::string& spool) { return scheme_of(spool).empty(); }

}  // namespace

std::string policy_path(const std::string& spool) {
  return is_file(spool) ? spool + "/fq.toml" : spool + ": fq.toml";
}

Error policy_too_long(const std::string& path) { return config(path, "is larger than 1MiB"); }

FileIdentity for_queue(FileIdentity state, std::string_view queue) {
  if (state != FileIdentity{}) state.for_queue = crc32c(0, as_bytes(queue));
  return state;
}

Result<PolicySource> read_policy_source(const std::string& spool) {
  if (is_file(spool)) return read_file(policy_path(spool));
  FQ_TRY_SET(PolicyText kept, policy_text(spool));
  return PolicySource{std::move(kept.text), kept.may_command, identity_of(kept.version)};
}

Result<FileIdentity> policy_state(Queue& queue, const std::string& spool) {
  if (!is_file(spool)) {
    FQ_TRY_SET(const std::string version, queue.policy_version());
    return identity_of(version);
  }
  const std::string path = policy_path(spool);
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return identity_of(info);
  if (errno != ENOENT) return unreadable("stat", path);
  FQ_TRY_SET(const auto link, link_to_nothing(path));
  return link ? identity_of(*link) : FileIdentity{};
}

}  // namespace fq
