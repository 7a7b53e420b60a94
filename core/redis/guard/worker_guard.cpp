#include "core/redis/guard/worker_guard.h"

// System.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
// fq, this room.
#include "core/redis/guard/guard_words.h"
#include "core/redis/guard/packet.h"

namespace fq {

namespace {

Error guard_error(std::string_view what, int sys) { return sys_error(what, "the worker's guard", sys); }

/// Nothing of ours but the socket, which is its input; no signal, and no terminal that would send one: it
/// ends by itself, and not before the worker.
int spawn(const char* program, int socket) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  ::posix_spawn_file_actions_addchdir_np(&files, "/");
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&how, &all);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  std::string name = "fq-redis", command = "guard";
  char* const argv[] = {name.data(), command.data(), nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program, &files, &how, argv, environ);
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  return failed;
}

/// Which also says so by what it had not read. Any other error passes, and a guard whose worker hangs up would
/// take it for dead.
bool is_gone(const Error& error) { return error.sys == EPIPE || error.sys == ECONNRESET; }

}  // namespace

WorkerGuard::~WorkerGuard() {
  if (socket_)
    static_cast<void>(send_packet(socket_, packet_of_end(), -1));  // one that is gone needs not hear it
}

Result<void> WorkerGuard::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return guard_error("socketpair", errno);
  Descriptor ours(ends[0]);
  const Descriptor its(ends[1]);
  if (const int failed = spawn(access_.guard_program, its.get()); failed != 0)
    return guard_error("start", failed);
  socket_ = std::move(ours);
  Result<void> told = send_packet(
      socket_, packet_of(GuardedWorker{access_.spool, access_.password, nonce_, tags_, ::getpid()}), -1);
  if (!told) socket_.close();  // one that does not know whose it is guards nothing: the next job has another
  return told;
}

Result<std::optional<int>> WorkerGuard::hold_for_job(std::span<const MessageId> ids,
                                                     std::optional<int64_t> limit_ms) {
  if (access_.guard_program == nullptr) return std::optional<int>();
  if (!socket_) FQ_TRY(start());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return guard_error("pipe", errno);
  const Descriptor its(ends[0]);
  Descriptor jobs(ends[1]);
  do {
    const size_t count = std::min(ids.size(), kGuardedIdsMax);
    Result<void> told = send_packet(socket_, packet_of(ids.first(count), limit_ms), its.get());
    if (!told && is_gone(told.error())) socket_.close();  // the next job has another
    FQ_TRY(std::move(told));
    ids = ids.subspan(count);
  } while (!ids.empty());
  return std::optional(jobs.release());
}

}  // namespace fq
