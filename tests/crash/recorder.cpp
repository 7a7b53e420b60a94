// recorder - see the header. A call is looked at when it has returned, except that what a name was before is
// looked up when it begins.
#include "tests/crash/recorder.h"

// System.
#include <linux/openat2.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>

#include <cerrno>
#include <cstddef>

namespace fq::test {

namespace {

constexpr std::string_view kBootIdFile = "/proc/sys/kernel/random/boot_id";
constexpr size_t kPathMax = 4096;

[[noreturn]] void become(const std::vector<std::string>& command, const Start& how, const int (&stdio)[3]) {
  for (int i = 0; i < 3; ++i) ::dup2(stdio[i], i);
  for (const std::string& pair : how.env) ::putenv(const_cast<char*>(pair.c_str()));
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

std::string whole(int descriptor) {
  std::string text(static_cast<size_t>(std::max<off_t>(0, ::lseek(descriptor, 0, SEEK_END))), '\0');
  return ::pread(descriptor, text.data(), text.size(), 0) == ssize_t(text.size()) ? text : std::string();
}

}  // namespace

std::string FileCall::describe() const {
  static const char* const kNames[] = {"create",   "mkdir", "rename",         "remove", "write",
                                       "lengthen", "sync",  "sync directory", "answer"};
  std::string text = std::string(kNames[static_cast<size_t>(kind)]) + " " + name;
  if (kind == Kind::rename) text += " to " + to;
  if (kind == Kind::write)
    text += " at " + std::to_string(offset) + ", " + std::to_string(data.size()) + " bytes";
  if (kind == Kind::lengthen) text += " to " + std::to_string(bytes);
  return failed ? text + ", failed" : text;
}

/// One command under ptrace.
class Recorder::Tracee {
 public:
  Tracee(Recorder& recorder, pid_t pid, const Mishap& mishap)
      : recorder_(recorder), pid_(pid), mishap_(mishap) {}
  ~Tracee() { ::close(memory_); }

  /// Until it has ended: what wait() said of it.
  int follow();

 private:
  using Kind = FileCall::Kind;
  struct Entered {
    uint64_t number = 0;
    uint64_t args[6] = {};
    std::optional<std::string> name, to;  // below the directory
    bool was_there = false;
  };

  void enter(const __ptrace_syscall_info& info);
  void leave(int64_t result);
  bool changes() const;
  void leave_named(int64_t result);
  void leave_open_file();
  void written(uint64_t offset, int64_t bytes);
  void synced(int64_t result);
  void pretend_other_boot(int64_t bytes);
  void answer_eio();
  bool fails(int number, int first) const {
    return first != 0 && number >= first && number < first + mishap_.failures;
  }

  std::string read(uint64_t address, size_t bytes) const {
    std::string data(bytes, '\0');
    const ssize_t got = ::pread(memory_, data.data(), bytes, static_cast<off_t>(address));
    data.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return data;
  }
  std::string link(uint64_t descriptor) const {
    std::error_code failed;
    const auto path = "/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(static_cast<int>(descriptor));
    return std::filesystem::read_symlink(path, failed).string();
  }
  std::optional<std::string> below(const std::string& path) const;
  std::optional<std::string> name_at(uint64_t descriptor, uint64_t address) const;
  std::string path_of(const std::string& name) const { return recorder_.directory_ + "/" + name; }
  static struct stat about(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) status = {};
    return status;
  }

  Recorder& recorder_;
  const pid_t pid_;
  const Mishap mishap_;
  int memory_ = -1;
  Entered call_;
  int changes_ = 0;
  int syncs_ = 0;
  int writes_ = 0;
};

int Recorder::Tracee::follow() {
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, 0) == pid_);  // stopped in exec
  // Not before: exec gives it another memory.
  memory_ = ::open(("/proc/" + std::to_string(pid_) + "/mem").c_str(), O_RDWR | O_CLOEXEC);
  ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE);
  int signal = 0;
  for (;;) {
    ::ptrace(PTRACE_SYSCALL, pid_, nullptr, signal);
    REQUIRE(::waitpid(pid_, &status, 0) == pid_);
    if (!WIFSTOPPED(status)) return status;
    signal = 0;
    if (status >> 16 != 0) FAIL("a command that has threads cannot be recorded");
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
      signal = WSTOPSIG(status);
      continue;
    }
    __ptrace_syscall_info info{};
    ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info);
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) enter(info);
    if (info.op == PTRACE_SYSCALL_INFO_EXIT) leave(info.exit.rval);
  }
}

std::optional<std::string> Recorder::Tracee::below(const std::string& path) const {
  const std::string top = recorder_.directory_ + "/";
  if (path == recorder_.directory_) return std::string();
  if (!path.starts_with(top)) return std::nullopt;
  return path.substr(top.size());
}

std::optional<std::string> Recorder::Tracee::name_at(uint64_t descriptor, uint64_t address) const {
  const std::string given = read(address, kPathMax).c_str();
  if (given.starts_with("/")) return below(given);
  const std::optional<std::string> at = below(link(descriptor));
  if (!at || given == ".") return at;
  return at->empty() ? given : *at + "/" + given;
}

bool Recorder::Tracee::changes() const {
  switch (call_.number) {
    case SYS_pwrite64:
    case SYS_write:
    case SYS_fallocate:
    case SYS_fsync:
    case SYS_fdatasync:
      return below(link(call_.args[0])).has_value();
    default:
      return call_.name.has_value();
  }
}

void Recorder::Tracee::enter(const __ptrace_syscall_info& info) {
  call_ = {};
  call_.number = info.entry.nr;
  std::copy(std::begin(info.entry.args), std::end(info.entry.args), call_.args);
  const uint64_t here = static_cast<uint64_t>(AT_FDCWD);
  switch (call_.number) {
    case SYS_openat2: {
      const std::string how = read(call_.args[2], sizeof(open_how));
      if ((get_number<uint64_t>(as_bytes(how).data()) & O_CREAT) != 0)
        call_.name = name_at(call_.args[0], call_.args[1]);
      break;
    }
    case SYS_openat:
      if ((call_.args[2] & O_CREAT) != 0) call_.name = name_at(call_.args[0], call_.args[1]);
      break;
    case SYS_mkdirat:
    case SYS_unlinkat:
      call_.name = name_at(call_.args[0], call_.args[1]);
      break;
    case SYS_mkdir:
    case SYS_unlink:
    case SYS_rmdir:
      call_.name = name_at(here, call_.args[0]);
      break;
    case SYS_renameat:
    case SYS_renameat2:
      call_.name = name_at(call_.args[0], call_.args[1]);
      call_.to = name_at(call_.args[2], call_.args[3]);
      break;
    case SYS_rename:
      call_.name = name_at(here, call_.args[0]);
      call_.to = name_at(here, call_.args[1]);
      break;
    case SYS_ftruncate:
    case SYS_pwritev:
    case SYS_writev:
    case SYS_linkat:
    case SYS_symlinkat:
      if (below(link(call_.args[0])))
        FAIL("a change that the recorder does not know: system call " << call_.number);
      break;
    default:
      break;
  }
  if (call_.name) call_.was_there = about(path_of(*call_.name)).st_ino != 0;
  if (mishap_.killed_at != 0 && changes() && ++changes_ == mishap_.killed_at) ::kill(pid_, SIGKILL);
}

void Recorder::Tracee::leave(int64_t result) {
  if (result < 0) return;
  switch (call_.number) {
    case SYS_read:
      if (link(call_.args[0]) == kBootIdFile) pretend_other_boot(result);
      break;
    case SYS_pwrite64:
      written(call_.args[3], result);
      break;
    case SYS_write:
      if (call_.args[0] == STDOUT_FILENO) {
        recorder_.note({.kind = Kind::answer, .data = read(call_.args[1], static_cast<size_t>(result))});
      } else {
        if (below(link(call_.args[0]))) FAIL("a write without a place: " << link(call_.args[0]));
      }
      break;
    case SYS_fallocate:
    case SYS_fsync:
    case SYS_fdatasync:
      synced(result);
      break;
    default:
      if (call_.name) leave_named(result);
      break;
  }
}

void Recorder::Tracee::leave_named(int64_t) {
  switch (call_.number) {
    case SYS_openat:
    case SYS_openat2:
      if (!call_.was_there) recorder_.note({.kind = Kind::create, .name = *call_.name});
      break;
    case SYS_mkdir:
    case SYS_mkdirat:
      recorder_.note({.kind = Kind::make_directory, .name = *call_.name});
      break;
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rmdir:
      recorder_.note({.kind = Kind::remove, .name = *call_.name});
      break;
    default:
      if (!call_.to) FAIL("renamed out of the directory: " << *call_.name);
      recorder_.note({.kind = Kind::rename, .name = *call_.name, .to = *call_.to});
      break;
  }
}

void Recorder::Tracee::written(uint64_t offset, int64_t bytes) {
  const std::string path = link(call_.args[0]);
  const std::optional<std::string> name = below(path);
  if (!name) return;
  const std::string self = "/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(call_.args[0]);
  recorder_.note({.kind = Kind::write,
                  .name = *name,
                  .inode = recorder_.numbers_.at(about(self).st_ino),
                  .offset = offset,
                  .data = read(call_.args[1], static_cast<size_t>(bytes))});
  if (name->find("/journal/") != std::string::npos && fails(++writes_, mishap_.failed_write)) answer_eio();
}

void Recorder::Tracee::synced(int64_t) {
  const std::optional<std::string> name = below(link(call_.args[0]));
  if (!name) return;
  const std::string self = "/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(call_.args[0]);
  const struct stat status = about(self);
  if (S_ISDIR(status.st_mode)) {
    recorder_.note({.kind = Kind::sync_directory, .name = *name});
    return;
  }
  FileCall call{.kind = Kind::sync, .name = *name, .inode = recorder_.numbers_.at(status.st_ino)};
  if (call_.number == SYS_fallocate) {
    call.kind = Kind::lengthen;
    call.bytes = call_.args[2] + call_.args[3];
  } else if (name->find("/journal/") != std::string::npos && fails(++syncs_, mishap_.failed_sync)) {
    call.failed = true;
    answer_eio();
  }
  recorder_.note(std::move(call));
}

void Recorder::Tracee::pretend_other_boot(int64_t bytes) {
  const std::string_view digits = "00000000";
  if (bytes < ssize_t(digits.size())) return;
  REQUIRE(::pwrite(memory_, digits.data(), digits.size(), static_cast<off_t>(call_.args[1])) ==
          ssize_t(digits.size()));
}

void Recorder::Tracee::answer_eio() {
#ifdef __x86_64__
  ::ptrace(PTRACE_POKEUSER, pid_, offsetof(user, regs.rax), static_cast<long>(-EIO));
#else
  FAIL("a failing call cannot be made up on this kind of machine");
#endif
}

bool Recorder::is_possible() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void Recorder::begin() {
  base_ = {};
  numbers_.clear();
  calls_.clear();
  for (const auto& item : std::filesystem::recursive_directory_iterator(directory_)) {
    const std::string name = item.path().string().substr(directory_.size() + 1);
    if (item.is_directory()) {
      base_.make_directory(name);
      continue;
    }
    base_.put(name, name.ends_with("/segment") ? std::string() : read_whole(item.path().string()));
    struct stat status {};
    REQUIRE(::stat(item.path().c_str(), &status) == 0);
    numbers_[status.st_ino] = *base_.find(name);
  }
  base_.settle();
  now_ = base_;
}

Outcome Recorder::run(const std::vector<std::string>& command, const Start& how, const Mishap& mishap) {
  const int stdio[] = {::memfd_create("in", MFD_CLOEXEC), ::memfd_create("out", MFD_CLOEXEC),
                       ::memfd_create("err", MFD_CLOEXEC)};
  REQUIRE(::pwrite(stdio[0], how.input.data(), how.input.size(), 0) == ssize_t(how.input.size()));
  const pid_t pid = ::fork();
  if (pid == 0) become(command, how, stdio);
  REQUIRE(pid > 0);
  const int status = Tracee(*this, pid, mishap).follow();
  Outcome outcome;
  if (WIFEXITED(status)) outcome.exit = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.out = whole(stdio[1]);
  outcome.err = whole(stdio[2]);
  for (const int descriptor : stdio) ::close(descriptor);
  return outcome;
}

void Recorder::note(FileCall call) {
  apply(now_, call);
  if (call.kind == FileCall::Kind::create) {
    struct stat status {};
    REQUIRE(::stat((directory_ + "/" + call.name).c_str(), &status) == 0);
    numbers_[status.st_ino] = *now_.find(call.name);
  }
  calls_.push_back(std::move(call));
}

void Recorder::apply(Platter& platter, const FileCall& call) {
  switch (call.kind) {
    case FileCall::Kind::create:
      platter.create(call.name);
      break;
    case FileCall::Kind::make_directory:
      platter.make_directory(call.name);
      break;
    case FileCall::Kind::rename:
      platter.rename(call.name, call.to);
      break;
    case FileCall::Kind::remove:
      platter.remove(call.name);
      break;
    case FileCall::Kind::write:
      platter.write(call.inode, call.offset, call.data);
      break;
    case FileCall::Kind::lengthen:
      platter.lengthen(call.inode, call.bytes);
      break;
    case FileCall::Kind::sync:
      platter.sync(call.inode, !call.failed);
      break;
    case FileCall::Kind::sync_directory:
      platter.sync_directory(call.name);
      break;
    case FileCall::Kind::answer:
      break;
  }
}

}  // namespace fq::test
