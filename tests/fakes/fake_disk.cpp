// fake_disk - see the header.
//
// Files are inodes in a map; names map to inode numbers (0 is a directory). Both exist twice: as a reader
// sees them now and as they are on the platter, with the list of changes between the two.
#include "tests/fakes/fake_disk.h"

// System.
#include <algorithm>
#include <cerrno>
#include <random>

namespace fq::test {

namespace {

constexpr uint64_t kSectorBytes = 512;

struct Write {
  uint64_t offset = 0;
  std::string bytes;
};

struct Inode {
  std::string current;
  std::string durable;
  std::vector<Write> unsynced;
};

using Names = std::map<std::string, uint64_t, std::less<>>;

/// One change of names: `to` empty is a removal, `from` empty a creation.
struct NameChange {
  std::string from;
  std::string to;
  uint64_t inode = 0;
};

std::string parent_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(name.substr(0, slash));
}

void write_into(std::string& content, const Write& write) {
  if (content.size() < write.offset + write.bytes.size()) content.resize(write.offset + write.bytes.size());
  content.replace(write.offset, write.bytes.size(), write.bytes);
}

void apply_change(Names& names, const NameChange& change) {
  if (!change.from.empty()) {
    if (names.erase(change.from) == 0) return;  // what it renames or removes did not survive
  }
  if (!change.to.empty()) names[change.to] = change.inode;
}

bool touches(const NameChange& change, std::string_view directory) {
  return (!change.from.empty() && parent_of(change.from) == directory) ||
         (!change.to.empty() && parent_of(change.to) == directory);
}

/// Names whose directory did not survive are gone with it.
void drop_orphans(Names& names) {
  for (auto it = names.begin(); it != names.end();) {
    const std::string parent = parent_of(it->first);
    it = parent.empty() || names.contains(parent) ? std::next(it) : names.erase(it);
  }
}

}  // namespace

struct FakeDisk::State {
  std::map<uint64_t, Inode> inodes;
  Names names;
  Names durable_names;
  std::vector<NameChange> unsynced_names;
  uint64_t next_inode = 1;
  uint64_t capacity = UINT64_MAX;
  uint64_t calls = 0;
  std::optional<uint64_t> fail_call;
  int fail_sys = 0;
  bool fail_sticky = false;
  std::vector<Operation> operations;
  std::string label = "fake";

  /// Counts a call; the errno with which it fails, or 0.
  int count(std::string call, std::string_view name, uint64_t offset = 0, uint64_t bytes = 0) {
    const bool changes = call != "read" && call != "list" && call != "size" && call != "open";
    operations.push_back({std::move(call), std::string(name), offset, bytes});
    const uint64_t number = calls++;
    if (!fail_call) return 0;
    if (number == *fail_call) return fail_sys;
    return fail_sticky && changes && number > *fail_call ? fail_sys : 0;
  }

  uint64_t used() const {
    uint64_t sum = 0;
    for (const auto& [name, inode] : names) {
      if (inode != 0) sum += inodes.at(inode).current.size();
    }
    return sum;
  }

  void change_name(NameChange change) {
    apply_change(names, change);
    unsynced_names.push_back(std::move(change));
  }
};

class FakeFile final : public File {
 public:
  FakeFile(std::shared_ptr<FakeDisk::State> disk, uint64_t inode, std::string name, bool writable)
      : disk_(std::move(disk)), inode_(inode), name_(std::move(name)), writable_(writable) {}

  Result<size_t> read_at(uint64_t offset, MutableBytes to) override {
    if (const int sys = disk_->count("read", name_, offset, to.size())) return sys_error("read", name_, sys);
    const std::string& content = inode().current;
    if (offset >= content.size()) return size_t{0};
    const size_t n = std::min<size_t>(to.size(), content.size() - offset);
    std::memcpy(to.data(), content.data() + offset, n);
    return n;
  }

  Result<void> write_at(uint64_t offset, Bytes from) override {
    int sys = disk_->count("write", name_, offset, from.size());
    if (!writable_) sys = EBADF;
    size_t n = from.size();
    if (sys != 0) n /= 2;
    if (sys == 0 && grows_too_far(offset + n)) {
      sys = ENOSPC;
      n = 0;
    }
    if (n != 0 && sys != EBADF) store(Write{offset, std::string(as_text(from.first(n)))});
    if (sys != 0) return sys_error("write", name_, sys);
    return {};
  }

  Result<void> allocate(uint64_t offset, uint64_t bytes) override {
    if (const int sys = disk_->count("allocate", name_, offset, bytes)) {
      return sys_error("fallocate", name_, sys);
    }
    if (grows_too_far(offset + bytes)) return sys_error("fallocate", name_, ENOSPC);
    // A longer file is a write of nothing at its new end.
    if (inode().current.size() < offset + bytes) store(Write{offset + bytes, {}});
    return {};
  }

  Result<void> sync_data() override { return sync(); }
  Result<void> sync_all() override { return sync(); }

  Result<uint64_t> size() override {
    if (const int sys = disk_->count("size", name_)) return sys_error("fstat", name_, sys);
    return uint64_t{inode().current.size()};
  }
  int descriptor() const override { return -1; }

 private:
  Inode& inode() { return disk_->inodes.at(inode_); }

  bool grows_too_far(uint64_t end) {
    const uint64_t size = inode().current.size();
    return end > size && disk_->used() + (end - size) > disk_->capacity;
  }

  void store(Write write) {
    write_into(inode().current, write);
    inode().unsynced.push_back(std::move(write));
  }

  Result<void> sync() {
    const int sys = disk_->count("sync", name_);
    if (sys == 0) {
      for (const Write& write : inode().unsynced) write_into(inode().durable, write);
    }
    inode().unsynced.clear();  // also after a failure: the kernel has marked the pages clean
    if (sys != 0) return sys_error("fdatasync", name_, sys);
    return {};
  }

  std::shared_ptr<FakeDisk::State> disk_;
  uint64_t inode_;
  std::string name_;
  bool writable_;
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
  const auto found = state_->names.find(name);
  const std::string parent = parent_of(name);
  if (!parent.empty() && !state_->names.contains(parent)) return sys_error("open", name, ENOENT);
  if (create) {
    if (found != state_->names.end()) return sys_error("open", name, EEXIST);
    const uint64_t inode = state_->next_inode++;
    state_->inodes[inode];
    state_->change_name({"", std::string(name), inode});
    return std::unique_ptr<File>(new FakeFile(state_, inode, std::string(name), true));
  }
  if (found == state_->names.end()) return sys_error("open", name, ENOENT);
  if (found->second == 0) return Error{ErrorKind::unusable, std::string(name) + ": is a directory", 0};
  return std::unique_ptr<File>(
      new FakeFile(state_, found->second, std::string(name), mode == OpenMode::write));
}

Result<std::vector<std::string>> FakeDisk::list(std::string_view name) {
  if (const int sys = state_->count("list", name)) return sys_error("opendir", name, sys);
  if (!name.empty() && !state_->names.contains(name)) return sys_error("opendir", name, ENOENT);
  std::vector<std::string> found;
  for (const auto& [path, inode] : state_->names) {
    if (parent_of(path) == name) found.push_back(name.empty() ? path : path.substr(name.size() + 1));
  }
  return found;
}

Result<void> FakeDisk::make_directory(std::string_view name) {
  if (const int sys = state_->count("make_directory", name)) return sys_error("mkdir", name, sys);
  if (!state_->names.contains(name)) state_->change_name({"", std::string(name), 0});
  return {};
}

Result<void> FakeDisk::rename(std::string_view from, std::string_view to) {
  if (const int sys = state_->count("rename", from)) return sys_error("rename", from, sys);
  const auto found = state_->names.find(from);
  if (found == state_->names.end()) return sys_error("rename", from, ENOENT);
  state_->change_name({std::string(from), std::string(to), found->second});
  return {};
}

Result<void> FakeDisk::remove(std::string_view name) {
  if (const int sys = state_->count("remove", name)) return sys_error("unlink", name, sys);
  if (!state_->names.contains(name)) return sys_error("unlink", name, ENOENT);
  state_->change_name({std::string(name), "", 0});
  return {};
}

Result<void> FakeDisk::sync_directory(std::string_view name) {
  if (const int sys = state_->count("sync_directory", name)) return sys_error("fsync", name, sys);
  std::vector<NameChange> left;
  for (NameChange& change : state_->unsynced_names) {
    if (touches(change, name)) {
      apply_change(state_->durable_names, change);
    } else {
      left.push_back(std::move(change));
    }
  }
  state_->unsynced_names = std::move(left);
  return {};
}

FakeDisk FakeDisk::crash() const { return crash(0); }

FakeDisk FakeDisk::crash(uint64_t seed) const {
  std::mt19937_64 random(seed);
  // Seed 0 keeps nothing; others keep each piece with a chance that itself varies from seed to seed.
  const uint64_t chance = seed == 0 ? 0 : random() % 101;
  const auto kept = [&] { return random() % 100 < chance; };

  FakeDisk after(*this);
  State& state = *after.state_;
  for (auto& [number, inode] : state.inodes) {
    for (const Write& write : inode.unsynced) {
      if (write.bytes.empty() && kept()) write_into(inode.durable, write);
      for (uint64_t at = 0; at < write.bytes.size();) {
        const uint64_t sector_end = ((write.offset + at) / kSectorBytes + 1) * kSectorBytes - write.offset;
        const uint64_t end = std::min<uint64_t>(sector_end, write.bytes.size());
        if (kept()) write_into(inode.durable, {write.offset + at, write.bytes.substr(at, end - at)});
        at = end;
      }
    }
    inode.unsynced.clear();
    inode.current = inode.durable;
  }
  for (const NameChange& change : state.unsynced_names) {
    if (kept()) apply_change(state.durable_names, change);
  }
  state.unsynced_names.clear();
  drop_orphans(state.durable_names);
  state.names = state.durable_names;
  state.fail_call.reset();
  state.calls = 0;
  state.operations.clear();
  return after;
}

void FakeDisk::fail_at(uint64_t call, int sys, bool sticky) {
  state_->fail_call = call;
  state_->fail_sys = sys;
  state_->fail_sticky = sticky;
}
void FakeDisk::heal() { state_->fail_call.reset(); }
void FakeDisk::set_capacity(uint64_t bytes) { state_->capacity = bytes; }
uint64_t FakeDisk::used_bytes() const { return state_->used(); }
uint64_t FakeDisk::call_count() const { return state_->calls; }
const std::vector<FakeDisk::Operation>& FakeDisk::operations() const { return state_->operations; }

bool FakeDisk::exists(std::string_view name) const { return state_->names.contains(name); }

std::string FakeDisk::content(std::string_view name) const {
  const auto found = state_->names.find(name);
  return found == state_->names.end() || found->second == 0 ? std::string()
                                                            : state_->inodes.at(found->second).current;
}

void FakeDisk::put(std::string_view name, std::string bytes) {
  auto found = state_->names.find(name);
  if (found == state_->names.end()) {
    found = state_->names.emplace(std::string(name), state_->next_inode++).first;
  }
  state_->durable_names[found->first] = found->second;
  Inode& inode = state_->inodes[found->second];
  inode.current = inode.durable = std::move(bytes);
  inode.unsynced.clear();
}

size_t FakeDisk::unsynced_count() const {
  size_t count = 0;
  for (const auto& [number, inode] : state_->inodes) count += inode.unsynced.size();
  return count;
}

}  // namespace fq::test
