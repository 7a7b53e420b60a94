// fake_disk - a disk in memory that knows what was synced and forgets the rest.
//
// crash() gives the disk that a power cut would leave: with what was synced, and by a seed any part of what
// was not (tests/fakes/platter.h says which parts there are).
//
// Faults: fail_at() fails one call by its number, set_unreadable() some pages, set_capacity() fills the disk.
// Copies are deep; files that are open keep pointing into the disk that opened them. Not thread-safe.
#pragma once

// System.
#include <memory>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/disk/disk.h"
// Tests.
#include "tests/fakes/platter.h"

namespace fq::test {

class FakeDisk final : public Disk {
 public:
  /// One call that reached the disk, also one that failed.
  struct Operation {
    std::string call;  // "write", "sync", "sync_directory", "rename", ...
    std::string name;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool operator==(const Operation&) const = default;
  };

  FakeDisk();
  FakeDisk(const FakeDisk& other);
  FakeDisk& operator=(const FakeDisk& other);
  ~FakeDisk() override;

  Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override;
  Result<std::vector<std::string>> list(std::string_view name) override;
  Result<void> make_directory(std::string_view name) override;
  Result<void> rename(std::string_view from, std::string_view to) override;
  Result<void> remove(std::string_view name) override;
  Result<void> sync_directory(std::string_view name) override;
  Result<uint64_t> free_bytes() override;
  Result<std::unique_ptr<Disk>> again() override;
  const std::string& label() const override;

  /// The disk after a power cut now: only what was synced.
  FakeDisk crash() const;
  /// As crash(), plus a part of what was not synced, chosen by `seed`.
  FakeDisk crash(uint64_t seed) const;

  /// Call number `call` from the first (0) fails with `sys`; a failed write writes its first half. With
  /// `sticky` every later call that changes the disk fails too.
  void fail_at(uint64_t call, int sys, bool sticky = false);
  /// Reads with a part in these pages fail with EIO, until heal().
  void set_unreadable(std::string_view name, uint64_t offset, uint64_t bytes);
  void heal();
  /// Bytes that all files together may take; more is ENOSPC.
  void set_capacity(uint64_t bytes);
  uint64_t used_bytes() const;

  uint64_t call_count() const;
  const std::vector<Operation>& operations() const;

  // For tests that damage or look at files directly; what is written here is durable at once.
  bool exists(std::string_view name) const;
  std::string content(std::string_view name) const;
  void put(std::string_view name, std::string bytes);
  /// Its bytes, to be changed in place: for hundreds of thousands of cases, where put() would take too long.
  std::string& rot(std::string_view name);
  void forget_operations();

 private:
  friend class FakeFile;
  struct State;
  explicit FakeDisk(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace fq::test
