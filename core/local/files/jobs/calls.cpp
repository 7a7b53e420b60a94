#include "core/local/files/jobs/calls.h"

// System.
#include <fcntl.h>

#include <cerrno>
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

namespace {

constexpr std::string_view kCalls = "calls";
constexpr size_t kBells = MappedPage::kBytes / sizeof(EventWord);
constexpr uint64_t kFirstByte = uint64_t{1} << 60;  // far behind the words

struct Bells {
  EventWord words[kBells];
};

struct flock lock_of(CallId call, int type) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(kFirstByte + number(call));
  lock.l_len = 1;
  return lock;
}

Result<std::unique_ptr<File>> open_or_make(Disk& disk) {
  Result<std::unique_ptr<File>> opened = disk.open(kCalls, OpenMode::write);
  if (opened.ok() || opened.error().sys != ENOENT) return opened;
  opened = disk.open(kCalls, OpenMode::create_new);
  if (opened.ok() || opened.error().sys != EEXIST) return opened;
  return disk.open(kCalls, OpenMode::write);
}

}  // namespace

Result<std::unique_ptr<Calls>> Calls::open(Disk& disk) {
  FQ_TRY_SET(std::unique_ptr<File> file, open_or_make(disk));
  if (file->descriptor() < 0) return std::unique_ptr<Calls>();
  FQ_TRY_SET(MappedPage page, MappedPage::map(*file, disk.label() + ": calls"));
  return std::unique_ptr<Calls>(new Calls(std::move(file), std::move(page)));
}

EventWord& Calls::bell(MessageId id) const { return page_.as<Bells>().words[number(id) % kBells]; }

Result<CallId> Calls::begin() {
  for (;;) {
    uint64_t drawn = 0;
    fill_random(&drawn, sizeof drawn);
    const CallId call{drawn & kMessageIdMax};
    if (number(call) == 0) continue;
    struct flock lock = lock_of(call, F_WRLCK);
    if (::fcntl(file_->descriptor(), F_OFD_SETLK, &lock) == 0) return call;
    const bool taken = errno == EAGAIN || errno == EACCES;
    if (!taken) return sys_error("lock", "calls", errno);
  }
}

void Calls::end(CallId call) const {
  struct flock lock = lock_of(call, F_UNLCK);
  ::fcntl(file_->descriptor(), F_OFD_SETLK, &lock);
}

bool Calls::goes_on(CallId call) const {
  struct flock lock = lock_of(call, F_WRLCK);
  // Where the kernel does not tell, nobody waits for one who may be dead.
  return ::fcntl(file_->descriptor(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace fq
