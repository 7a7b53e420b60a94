// fake_disk - see the header. The files are a Platter's; here are the calls, their faults and their counting.
#include "tests/fakes/fake_disk.h"

// System.
#include <algorithm>
#include <cerrno>
#include <random>

namespace fq::test {

struct FakeDisk::State {
  Platter platter;
  uint64_t capacity = UINT64_MAX;
  uint64_t calls = 0;
  std::optional<uint64_t> fail_call;
  int fail_sys = 0;
  bool fail_sticky = false;
  std::vector<Operation> operations;
  std::string label = "fake";
  struct Unreadable {
    std::string name;
    uint64_t offset = 0;
    uint64_t end = 0;
  };
  std::vector<Unreadable> unreadable;

  /// Counts a call; the errno with which it fails, or 0.
  int count(std::string call, std::string_view name, uint64_t offset = 0, uint64_t bytes = 0) {
    const bool changes = call != "read" && call != "list" && call != "size" && call != "open";
    operations.push_back({std::move(call), std::string(name), offset, bytes});
    const uint64_t number = calls++;
    if (!fail_call) return 0;
    if (number == *fail_call) return fail_sys;
    return fail_sticky && changes && number > *fail_call ? fail_sys : 0;
  }

  /// The first byte there that cannot be read.
  std::optional<uint64_t> unreadable_in(std::string_view name, uint64_t offset, uint64_t bytes) const {
    std::optional<uint64_t> first;
    for (const Unreadable& each : unreadable) {
      if (each.name != name || offset >= each.end || each.offset >= offset + bytes) continue;
      first = std::min(first.value_or(UINT64_MAX), std::max(offset, each.offset));
    }
    return first;
  }

  uint64_t used() const {
    uint64_t sum = 0;
    for (const auto& [name, inode] : platter.names()) {
      if (inode != Platter::kDirectory) sum += platter.content(inode).size();
    }
    return sum;
  }

  /// The errno with which a call that needs the name to be there fails, or 0.
  int missing(std::string_view name) const { return platter.find(name) ? 0 : ENOENT; }
  bool has_parent(std::string_view name) const {
    const std::string parent = parent_of(name);
    return parent.empty() || platter.find(parent);
  }
};

class FakeFile final : public File {
 public:
  FakeFile(std::shared_ptr<FakeDisk::State> disk, uint64_t inode, std::string name, bool writable)
      : disk_(std::move(disk)), inode_(inode), name_(std::move(name)), writable_(writable) {
    opened_.bytes = disk_->platter.content(inode_).size();
  }

  Result<size_t> read_at(uint64_t offset, MutableBytes to) override {
    if (const int sys = disk_->count("read", name_, offset, to.size())) return sys_error("read", name_, sys);
    if (const auto bad = disk_->unreadable_in(name_, offset, to.size()))
      return sys_error("read at byte " + std::to_string(*bad), name_, EIO);
    const std::string& content = disk_->platter.content(inode_);
    if (offset >= content.size()) return size_t{0};
    const size_t n = std::min<size_t>(to.size(), content.size() - offset);
    std::memcpy(to.data(), content.data() + offset, n);
    return n;
  }

  Result<bool> share(const File&, uint64_t) override { return false; }

  Result<void> write_at(uint64_t offset, Bytes from) override {
    int sys = disk_->count("write", name_, offset, from.size());
    if (!writable_) sys = EBADF;
    size_t n = from.size();
    if (sys != 0) n /= 2;
    if (sys == 0 && grows_too_far(offset + n)) {
      sys = ENOSPC;
      n = 0;
    }
    if (n != 0 && sys != EBADF) disk_->platter.write(inode_, offset, as_text(from.first(n)));
    if (sys != 0) return sys_error("write", name_, sys);
    return {};
  }

  Result<void> allocate(uint64_t offset, uint64_t bytes) override {
    if (const int sys = disk_->count("allocate", name_, offset, bytes)) {
      return sys_error("fallocate", name_, sys);
    }
    if (grows_too_far(offset + bytes)) return sys_error("fallocate", name_, ENOSPC);
    disk_->platter.lengthen(inode_, offset + bytes);
    return {};
  }

  Result<void> sync_data() override { return sync(); }
  Result<void> sync_all() override { return sync(); }

  Result<uint64_t> size() override {
    if (const int sys = disk_->count("size", name_)) return sys_error("fstat", name_, sys);
    return uint64_t{disk_->platter.content(inode_).size()};
  }
  Result<bool> has_name() override {
    const Platter::Names& names = disk_->platter.names();
    return std::any_of(names.begin(), names.end(), [&](const auto& each) { return each.second == inode_; });
  }
  const FileOpened& opened() const override { return opened_; }
  int descriptor() const override { return -1; }

 private:
  bool grows_too_far(uint64_t end) {
    const uint64_t size = disk_->platter.content(inode_).size();
    return end > size && disk_->used() + (end - size) > disk_->capacity;
  }

  Result<void> sync() {
    const int sys = disk_->count("sync", name_);
    disk_->platter.sync(inode_, sys == 0);
    if (sys != 0) return sys_error("fdatasync", name_, sys);
    return {};
  }

  std::shared_ptr<FakeDisk::State> disk_;
  uint64_t inode_;
  std::string name_;
  bool writable_;
  FileOpened opened_;
};

FakeDisk::FakeDisk() : state_(std::make_shared<State>()) {}
FakeDisk::FakeDisk(const FakeDisk& other) : Disk(), state_(std::make_shared<State>(*other.state_)) {}
FakeDisk& FakeDisk::operator=(const FakeDisk& other) {
  if (this != &other) state_ = std::make_shared<State>(*other.state_);
  return *this;
}
FakeDisk::~FakeDisk() = default;

const std::string& FakeDisk::label() const { return state_->label; }

Result<std::unique_ptr<File>> FakeDisk::open(std::string_view name, OpenMode mode) {
  const bool create = mode == OpenMode::create_new;
  if (const int sys = state_->count(create ? "create" : "open", name)) return sys_error("open", name, sys);
  if (!state_->has_parent(name)) return sys_error("open", name, ENOENT);
  const std::optional<uint64_t> found = state_->platter.find(name);
  if (create) {
    if (found) return sys_error("open", name, EEXIST);
    const uint64_t inode = state_->platter.create(name);
    return std::unique_ptr<File>(new FakeFile(state_, inode, std::string(name), true));
  }
  if (!found) return sys_error("open", name, ENOENT);
  if (*found == Platter::kDirectory) {
    return Error{ErrorKind::unusable, std::string(name) + ": is a directory", 0};
  }
  return std::unique_ptr<File>(new FakeFile(state_, *found, std::string(name), mode == OpenMode::write));
}

Result<std::vector<std::string>> FakeDisk::list(std::string_view name) {
  if (const int sys = state_->count("list", name)) return sys_error("opendir", name, sys);
  if (!name.empty() && !exists(name)) return sys_error("opendir", name, ENOENT);
  std::vector<std::string> found;
  for (const auto& [path, inode] : state_->platter.names()) {
    if (parent_of(path) == name) found.push_back(name.empty() ? path : path.substr(name.size() + 1));
  }
  return found;
}

Result<void> FakeDisk::make_directory(std::string_view name) {
  if (const int sys = state_->count("make_directory", name)) return sys_error("mkdir", name, sys);
  if (!exists(name)) state_->platter.make_directory(name);
  return {};
}

Result<void> FakeDisk::rename(std::string_view from, std::string_view to) {
  if (const int sys = state_->count("rename", from)) return sys_error("rename", from, sys);
  if (const int sys = state_->missing(from)) return sys_error("rename", from, sys);
  state_->platter.rename(from, to);
  return {};
}

Result<void> FakeDisk::remove(std::string_view name) {
  if (const int sys = state_->count("remove", name)) return sys_error("unlink", name, sys);
  if (const int sys = state_->missing(name)) return sys_error("unlink", name, sys);
  state_->platter.remove(name);
  return {};
}

Result<void> FakeDisk::sync_directory(std::string_view name) {
  if (const int sys = state_->count("sync_directory", name)) return sys_error("fsync", name, sys);
  state_->platter.sync_directory(name);
  return {};
}

Result<std::unique_ptr<Disk>> FakeDisk::again() {
  return std::unique_ptr<Disk>(std::unique_ptr<FakeDisk>(new FakeDisk(state_)));
}

Result<uint64_t> FakeDisk::free_bytes() {
  return state_->capacity - std::min(state_->capacity, state_->used());
}

FakeDisk FakeDisk::crash() const { return crash(0); }

FakeDisk FakeDisk::crash(uint64_t seed) const {
  std::mt19937_64 random(seed);
  // Seed 0 keeps nothing; others keep each piece with a chance that itself varies from seed to seed.
  const uint64_t chance = seed == 0 ? 0 : random() % 101;
  const std::vector<Platter::Open> open = state_->platter.open();
  std::vector<uint32_t> outcomes;
  for (const Platter::Open& each : open) {
    const bool kept = random() % 100 < chance;
    outcomes.push_back(kept ? 1 + static_cast<uint32_t>(random() % (each.outcomes - 1)) : 0);
  }
  FakeDisk after;
  after.state_->platter = state_->platter.after_cut(open, outcomes, Platter::kSectorBytes);
  after.state_->capacity = state_->capacity;
  after.state_->label = state_->label;
  return after;
}

void FakeDisk::fail_at(uint64_t call, int sys, bool sticky) {
  state_->fail_call = call;
  state_->fail_sys = sys;
  state_->fail_sticky = sticky;
}
void FakeDisk::set_unreadable(std::string_view name, uint64_t offset, uint64_t bytes) {
  state_->unreadable.push_back({std::string(name), offset, offset + bytes});
}
void FakeDisk::heal() {
  state_->fail_call.reset();
  state_->unreadable.clear();
}
void FakeDisk::set_capacity(uint64_t bytes) { state_->capacity = bytes; }
uint64_t FakeDisk::used_bytes() const { return state_->used(); }
uint64_t FakeDisk::call_count() const { return state_->calls; }
const std::vector<FakeDisk::Operation>& FakeDisk::operations() const { return state_->operations; }

bool FakeDisk::exists(std::string_view name) const { return state_->platter.find(name).has_value(); }

std::string FakeDisk::content(std::string_view name) const {
  const std::optional<uint64_t> inode = state_->platter.find(name);
  return !inode || *inode == Platter::kDirectory ? std::string() : state_->platter.content(*inode);
}

void FakeDisk::put(std::string_view name, std::string bytes) { state_->platter.put(name, std::move(bytes)); }

std::string& FakeDisk::rot(std::string_view name) { return state_->platter.rot(*state_->platter.find(name)); }

void FakeDisk::forget_operations() { state_->operations.clear(); }

}  // namespace fq::test
