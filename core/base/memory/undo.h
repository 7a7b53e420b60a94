// undo - stores that can be taken back: shared fields, transactions and their log.
//
// A Shared<T> is a field of a structure that several processes (or a crash) may find half-changed. It has
// no public assignment: the only way to change it is a Txn, which first notes the old value in an
// UndoLog that lies in the same byte region. Commit is one store (count = 0). When a process dies inside,
// the next one calls undo_rollback and the structure is as it was before.
//
// The order of the stores is what matters, and only for a process that is killed: retired stores of a
// killed process are seen by the next lock holder in program order, so compiler barriers are enough.
// Nothing here survives a power cut; the region is thrown away at boot.
//
// Invariants
//  U1  entries[0 .. count) hold the values before the transaction, oldest first.
//  U2  count is 0 whenever no transaction is open.
//  U3  A field is changed only after its entry is counted.
#pragma once

// System.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
// fq, this room.
#include "core/base/assert.h"
#include "core/base/fault_point.h"
#include "core/base/memory/changed_blocks.h"

namespace fq {

/// A field that only a Txn can change. T is a number or an enum of at most 8 bytes.
template <class T>
class Shared {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(sizeof(T) <= 8);

 public:
  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T get() const { return value_; }
  operator T() const { return value_; }
  /// Without the lock that guards it: some value it had, old by the time it is used.
  T peek() const {
    T value;
    __atomic_load(&value_, &value, __ATOMIC_RELAXED);
    return value;
  }

 private:
  friend class Txn;
  T value_;
};

struct UndoEntry {
  uint64_t where;  // offset from the region's base << 4 | bytes of the field
  uint64_t old_value;
};

// Twice kUndoOfOne: whoever changes many messages in one transaction goes on while there is room for the
// worst one.
inline constexpr uint32_t kUndoEntries = 4096;
// What the start or the end of one message may note. Measured: 1,068 for a tenant of eight levels with 700
// siblings, a limit and a pool at each; and that doubled, since rings may be larger.
inline constexpr uint32_t kUndoOfOne = 2048;

struct UndoLog {
  uint32_t count;
  uint32_t zero;
  UndoEntry entries[kUndoEntries];
};
static_assert(sizeof(UndoLog) == 8 + 16 * kUndoEntries);

/// Puts back what a dead process left half-changed in the region [base, base + bytes). Idempotent: dying
/// inside it and calling it again gives the same. Returns false, with nothing changed, when the log is no
/// valid log (the region is damaged: rebuild it).
bool undo_rollback(std::byte* base, uint64_t bytes, UndoLog& log);

/// One transaction over the region that starts at `base`. Needs: the lock that guards the region, and no
/// other Txn open on it. Destroyed without commit, it takes everything back.
class Txn {
 public:
  /// `changed`: where it marks what it changes while that is watched.
  Txn(std::byte* base, uint64_t bytes, UndoLog& log, ChangedBlocks* changed = nullptr)
      : next_(log.entries),
        end_(log.entries + kUndoEntries),
        base_(base),
        bytes_(bytes),
        log_(log),
        changed_(changed),
        notes_all_(is_watched()) {}
  /// Over a region that nobody else knows yet, and that goes when its maker dies: notes nothing, takes
  /// nothing back.
  struct Private {};
  Txn(Private, std::byte* base, UndoLog& log)
      : next_(log.entries), end_(log.entries), base_(base), bytes_(0), log_(log) {}
  Txn(const Txn&) = delete;
  Txn& operator=(const Txn&) = delete;
  ~Txn() {
    check_noted();
    if (log_.count != 0) undo_rollback(base_, bytes_, log_);
  }

  // Inline wherever it is used: an operation makes dozens of these, and a call costs as much as the work.
  template <class T>
  [[gnu::always_inline]] void set(Shared<T>& field, std::type_identity_t<T> value) {
    uint64_t old_value = 0;
    std::memcpy(&old_value, &field.value_, sizeof(T));
    note(&field.value_, sizeof(T), old_value);
    FQ_POINT("txn.store");
    __atomic_store(&field.value_, &value, __ATOMIC_RELAXED);  // a plain store, whole for whoever peeks
    std::atomic_signal_fence(std::memory_order_seq_cst);
    FQ_POINT("txn.store");
  }

  /// Writes a field of a slot that nothing reachable refers to yet: not undone, since after an undo
  /// nobody looks at it. Never for a field that a free list reads.
  template <class T>
  [[gnu::always_inline]] void fresh(Shared<T>& field, std::type_identity_t<T> value) {
    if (__builtin_expect(notes_all_, false)) return set_apart(field, value);
    field.value_ = value;
    FQ_POINT("txn.store");
  }
  /// Something reachable was freed: what is taken from now on may be it, and an undo brings it back.
  void note_freed() { notes_all_ = true; }

  void commit() {
    check_noted();
    if (__builtin_expect(is_watched(), false)) mark_changes();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log_.count = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    next_ = log_.entries;
    notes_all_ = is_watched();
  }

  uint32_t noted() const { return log_.count; }

 private:
  template <class T>
  [[gnu::noinline]] void set_apart(Shared<T>& field, T value) {
    set(field, value);
  }

  [[gnu::always_inline]] void note(const void* field, uint32_t field_bytes, uint64_t old_value) {
    UndoEntry* const entry = next_;
    if (__builtin_expect(entry == end_, 0)) {
      FQ_ASSERT(is_private());
      return;
    }
    const auto offset = static_cast<uint64_t>(static_cast<const std::byte*>(field) - base_);
    entry->where = offset << 4 | field_bytes;
    entry->old_value = old_value;
    next_ = entry + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the entry before the count (U1)
    log_.count = log_.count + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the count before the store (U3)
  }

  /// That nothing was noted before it began. Told at the end, since a page that is read first and written
  /// later is mapped twice.
  void check_noted() const { FQ_ASSERT(log_.count == static_cast<size_t>(next_ - log_.entries)); }

  bool is_watched() const { return changed_ != nullptr && changed_->is_watched(); }

  /// Before the commit: who dies in between has marked what he did not change.
  [[gnu::noinline]] void mark_changes() {
    for (const UndoEntry* entry = log_.entries; entry != next_; ++entry) changed_->mark(entry->where >> 4);
    changed_->note_transaction();
  }

  bool is_private() const { return end_ == log_.entries; }

  UndoEntry* next_;  // &log_.entries[log_.count]
  UndoEntry* end_;   // private: the first
  std::byte* base_;
  uint64_t bytes_;
  UndoLog& log_;
  ChangedBlocks* changed_ = nullptr;
  bool notes_all_ = false;  // also what is stored into slots that nothing refers to
};

}  // namespace fq
