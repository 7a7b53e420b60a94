#include "core/local/files/jobs/run_file.h"

// System.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

constexpr uint64_t kRunMagic = 0x0a316e7572716600;  // "\0fqrun1\n"
constexpr std::string_view kEnding = ".run";
constexpr int kMakeTries = 10;  // against who sweeps

using Counter = std::atomic<uint64_t>;
static_assert(Counter::is_always_lock_free);

struct flock writer_lock(int type) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return lock;
}

size_t index(Channel channel) { return static_cast<size_t>(channel); }

}  // namespace

/// The first page. Everything before `channels` is constant once the magic is there.
struct RunFile::Control {
  Counter magic;
  uint64_t id;
  uint64_t call;
  uint64_t head_bytes;
  uint64_t ring_bytes;
  uint64_t tail_bytes;  // of the ring, kept after the end
  uint64_t delivery;
  std::atomic<uint32_t> over;
  uint32_t zero;
  struct {
    Counter claimed;
    Counter written;
    Counter lost;
    Counter read;  // by the caller
  } channels[2];
};

std::string RunFile::path_of(const Name& name) {
  return "output/" + std::to_string(number(name.id)) + "." + std::to_string(name.delivery) +
         std::string(kEnding);
}

std::optional<RunFile::Name> RunFile::name_in(std::string_view file_name) {
  if (!file_name.ends_with(kEnding)) return std::nullopt;
  file_name.remove_suffix(kEnding.size());
  const char* const end = file_name.data() + file_name.size();
  uint64_t id = 0;
  Name name;
  const auto first = std::from_chars(file_name.data(), end, id);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, name.delivery);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  name.id = MessageId{id};
  return name;
}

RunFile::Control& RunFile::control() const { return page_.as<Control>(); }

bool RunFile::is_awaited(Disk& disk, const Name& name, const Calls& calls) {
  const Result<std::unique_ptr<File>> file = disk.open(path_of(name), OpenMode::read);
  if (!file.ok()) return false;
  std::array<std::byte, sizeof(Control)> head;
  const Result<size_t> got = (*file)->read_at(0, head);
  if (!got.ok() || *got != head.size() || get_number<uint64_t>(head.data()) != kRunMagic) return false;
  const auto call = get_number<uint64_t>(head.data() + offsetof(Control, call));
  return call != 0 && calls.goes_on(CallId{call});
}

bool RunFile::is_forsaken(Disk& disk, const Name& name, const Calls& calls) {
  const Result<std::unique_ptr<File>> file = disk.open(path_of(name), OpenMode::write);
  if (!file.ok()) return false;
  struct flock lock = writer_lock(F_WRLCK);
  const bool unwritten = ::fcntl((*file)->descriptor(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
  return unwritten && !is_awaited(disk, name, calls);
}

/// A new one that is held, and was not taken away before it was.
Result<std::unique_ptr<RunFile>> RunFile::make_held(Disk& disk, const std::string& path) {
  for (int attempt = 0; attempt < kMakeTries; ++attempt) {
    Result<std::unique_ptr<File>> made = disk.open(path, OpenMode::create_new);
    if (!made.ok() && made.error().sys == ENOENT) {
      FQ_TRY(disk.make_directory("output"));
      continue;
    }
    if (!made.ok() && made.error().sys == EEXIST) {
      // Of a delivery of which nobody knows any more that it was: after a crash its number is given again.
      static_cast<void>(disk.remove(path));
      continue;
    }
    if (!made.ok()) return made.error();
    struct flock lock = writer_lock(F_WRLCK);
    if (::fcntl((*made)->descriptor(), F_OFD_SETLK, &lock) != 0) continue;
    FQ_TRY_SET(const bool named, (*made)->has_name());
    if (!named) continue;
    FQ_POINT("run.made");
    Result<MappedPage> page = MappedPage::map(**made, disk.label() + ": " + path);
    if (!page.ok()) {
      static_cast<void>(disk.remove(path));
      return std::move(page).error();
    }
    return std::unique_ptr<RunFile>(new RunFile(std::move(made).value(), std::move(page).value()));
  }
  return Error{ErrorKind::io, disk.label() + ": " + path + ": another process takes it away", 0};
}

Result<std::unique_ptr<RunFile>> RunFile::make(Disk& disk, const Name& name, uint64_t call,
                                               uint64_t bytes_max) {
  FQ_TRY_SET(std::unique_ptr<RunFile> file, make_held(disk, path_of(name)));
  Control& control = file->control();
  control.id = number(name.id);
  control.call = call;
  control.delivery = name.delivery;
  control.tail_bytes = bytes_max / 2;
  control.head_bytes = bytes_max - control.tail_bytes;
  const uint64_t for_caller = call == 0 ? 1 : kRunHeldBackBytes + kRunOverrunBytes;
  control.ring_bytes = std::max(control.tail_bytes, for_caller);
  control.magic.store(kRunMagic, std::memory_order_release);
  return file;
}

Result<std::unique_ptr<RunFile>> RunFile::open(Disk& disk, const Name& name) {
  const std::string path = path_of(name);
  Result<std::unique_ptr<File>> file = disk.open(path, OpenMode::write);
  if (!file.ok() && file.error().sys == ENOENT) return std::unique_ptr<RunFile>();
  if (!file.ok()) return file.error();
  FQ_TRY_SET(const uint64_t size, (*file)->size());
  if (size < MappedPage::kBytes) return std::unique_ptr<RunFile>();
  FQ_TRY_SET(MappedPage page, MappedPage::map(**file, disk.label() + ": " + path));
  std::unique_ptr<RunFile> run(new RunFile(std::move(file).value(), std::move(page)));
  const Control& control = run->control();
  const bool whole = control.magic.load(std::memory_order_acquire) == kRunMagic &&
                     control.id == number(name.id) && control.delivery == name.delivery &&
                     control.ring_bytes > 0;
  return whole ? std::move(run) : nullptr;
}

uint64_t RunFile::offset_of(Channel channel, uint64_t position) const {
  const Control& shared = control();
  const uint64_t begin = MappedPage::kBytes + index(channel) * (shared.head_bytes + shared.ring_bytes);
  if (position < shared.head_bytes) return begin + position;
  return begin + shared.head_bytes + (position - shared.head_bytes) % shared.ring_bytes;
}

uint64_t RunFile::in_one_piece(uint64_t position) const {
  const Control& shared = control();
  if (position < shared.head_bytes) return shared.head_bytes - position;
  return shared.ring_bytes - (position - shared.head_bytes) % shared.ring_bytes;
}

void RunFile::write(Channel channel, std::string_view bytes) {
  auto& shared = control().channels[index(channel)];
  while (!bytes.empty() && !broken_[index(channel)]) {
    const uint64_t at = shared.written.load(std::memory_order_relaxed);
    const auto n = static_cast<size_t>(std::min<uint64_t>(bytes.size(), in_one_piece(at)));
    shared.claimed.store(at + n, std::memory_order_seq_cst);
    broken_[index(channel)] = !file_->write_at(offset_of(channel, at), as_bytes(bytes.substr(0, n))).ok();
    if (broken_[index(channel)]) break;
    FQ_POINT("run.piece");
    shared.written.store(at + n, std::memory_order_release);
    bytes.remove_prefix(n);
  }
  shared.lost.fetch_add(bytes.size(), std::memory_order_relaxed);
}

void RunFile::close() { control().over.store(1, std::memory_order_release); }

uint64_t RunFile::unread(Channel channel) const {
  const auto& shared = control().channels[index(channel)];
  return written(channel) - std::min(written(channel), shared.read.load(std::memory_order_acquire));
}

uint64_t RunFile::call() const { return control().call; }

bool RunFile::is_over() const { return control().over.load(std::memory_order_acquire) != 0; }

bool RunFile::has_writer() const {
  struct flock lock = writer_lock(F_WRLCK);
  return ::fcntl(file_->descriptor(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// R1.
uint64_t RunFile::first_there(Channel channel, uint64_t position) const {
  const Control& shared = control();
  if (position < shared.head_bytes) return position;
  const uint64_t claimed = shared.channels[index(channel)].claimed.load(std::memory_order_seq_cst);
  const uint64_t oldest = claimed - std::min(claimed, shared.ring_bytes);
  return std::max(position, oldest);
}

Result<RunFile::Piece> RunFile::read(Channel channel, uint64_t position, MutableBytes to) const {
  const uint64_t there = written(channel) - std::min(written(channel), position);
  const auto n = static_cast<size_t>(std::min<uint64_t>({to.size(), there, in_one_piece(position)}));
  if (n == 0) return Piece{};
  if (const uint64_t first = first_there(channel, position); first > position)
    return Piece{0, first - position};
  FQ_TRY_SET(const size_t got, file_->read_at(offset_of(channel, position), to.first(n)));
  if (got != n) return Error{ErrorKind::io, "the file of a job's output was cut while it was read", 0};
#ifndef __SANITIZE_THREAD__  // which knows no fences; what the kernel has read it does not see either
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  // Its writer may have gone over it meanwhile.
  if (const uint64_t first = first_there(channel, position); first > position)
    return Piece{0, first - position};
  return Piece{n, 0};
}

uint64_t RunFile::written(Channel channel) const {
  return control().channels[index(channel)].written.load(std::memory_order_acquire);
}

uint64_t RunFile::lost(Channel channel) const {
  return control().channels[index(channel)].lost.load(std::memory_order_acquire);
}

void RunFile::note_read(Channel channel, uint64_t position) {
  control().channels[index(channel)].read.store(position, std::memory_order_release);
}

uint64_t RunFile::kept_bytes(Channel channel) const {
  const Control& shared = control();
  return std::min(written(channel), shared.head_bytes + shared.tail_bytes);
}

Gap RunFile::gap(Channel channel) const {
  const Control& shared = control();
  const uint64_t kept = kept_bytes(channel);
  const uint64_t cut = written(channel) - kept;
  const uint64_t bytes = cut + lost(channel);
  if (bytes == 0) return {};
  return {cut > 0 ? shared.head_bytes : kept, bytes};
}

Result<void> RunFile::read_kept(Channel channel, uint64_t from, MutableBytes to) const {
  const Control& shared = control();
  const uint64_t cut = written(channel) - kept_bytes(channel);
  while (!to.empty()) {
    const bool in_head = from < shared.head_bytes;
    const uint64_t position = in_head ? from : from + cut;
    const auto n = static_cast<size_t>(std::min<uint64_t>(to.size(), in_one_piece(position)));
    FQ_TRY_SET(const size_t got, file_->read_at(offset_of(channel, position), to.first(n)));
    if (got != n) return Error{ErrorKind::io, "the file of a job's output was cut while it was read", 0};
    from += n;
    to = to.subspan(n);
  }
  return {};
}

}  // namespace fq
