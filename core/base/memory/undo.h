// undo - stores that can be taken back: shared fields, transactions and their log.
//
// A Shared<T> is a field of a structure that several processes (or a crash) may find half-changed. It has
// no public assignment: the only way to change it is a Txn, which first notes the old value in an
// UndoLog that lies in the same byte region. Commit is one store (count = 0). When a process dies inside,
// the next one calls undo_rollback and the structure is as it was before.
//
// A struct of which much is changed is opened: noted as a whole, after which a store into it needs no note of
// its own. Such stores go through what open() returns, an Opened, which can name no field but those that were
// noted. Fields that lie side by side and belong to no struct of their own are told by their type (`kOpens`):
// a store of a Txn into one looks whether it was opened, and notes it where it was not.
//
// The order of the stores is what matters, and only for a process that is killed: retired stores of a
// killed process are seen by the next lock holder in program order, so compiler barriers are enough.
// Nothing here survives a power cut; the region is thrown away at boot.
//
// Invariants
//  U1  words[0 .. count) are notes of the values before the transaction, oldest first.
//  U2  count is 0 whenever no transaction is open.
//  U3  A field is changed only after its note is counted.
//  U4  What is opened holds Shared fields alone: a lock or an atomic beside them, which others change
//      meanwhile, would be set back with them.
#pragma once

// System.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
// fq, this room.
#include "core/base/assert.h"
#include "core/base/fault_point.h"
#include "core/base/memory/changed_blocks.h"

namespace fq {

/// The kinds of opened objects. Of each kind the one that was opened last is remembered, so that it is not
/// noted twice. The schedule and the owner of the region say which kind is which.
inline constexpr uint32_t kNotOpened = 0;  // is noted field by field; as a kind of structs: remembers none
inline constexpr uint32_t kOpenKinds = 6;

template <class T>
class Opened;
template <uint32_t kOpens>
class OpenedFields;

/// A field that only a Txn can change. T is a number or an enum of at most 8 bytes. `kOpens`: of the fields
/// that it is opened with, if it is.
template <class T, uint32_t kOpens = kNotOpened>
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
  template <class Struct>
  friend class Opened;
  template <uint32_t kFields>
  friend class OpenedFields;

  /// After a note of it.
  [[gnu::always_inline]] void store(T value) {
    FQ_POINT("txn.store");
    __atomic_store(&value_, &value, __ATOMIC_RELAXED);  // a plain store, whole for a peek
    FQ_POINT("txn.store");
  }

  T value_;
};

/// The part of a T that is noted when it is opened: all of it, or T::Noted, which it begins with.
template <class T>
struct NotedPart {
  using Type = T;
};
template <class T>
requires requires { typename T::Noted; }
struct NotedPart<T> {
  using Type = typename T::Noted;
};

/// A T that was noted, whose fields change without notes of their own. As good as the transaction.
template <class T>
class Opened {
 public:
  using Noted = typename NotedPart<T>::Type;
  const T& operator*() const { return *at_; }
  const T* operator->() const { return at_; }

  template <class Value, uint32_t kOpens>
  [[gnu::always_inline]] void set(Shared<Value, kOpens> Noted::*field,
                                  std::type_identity_t<Value> value) const {
    (at_->*field).store(value);
  }
  /// A struct in it.
  template <class Part>
  [[gnu::always_inline]] Opened<Part> part(Part Noted::*part) const {
    return Opened<Part>(at_->*part);
  }

 private:
  friend class Txn;
  template <class Whole>
  friend class Opened;
  template <uint32_t kFields>
  friend class OpenedFields;
  explicit Opened(T& at) : at_(&at) {}
  T* at_;
};

/// All fields of this kind, opened in the same way. Needs: they lie in one place of a region.
template <uint32_t kOpens>
class OpenedFields {
 public:
  template <class Value>
  [[gnu::always_inline]] void set(Shared<Value, kOpens>& field, std::type_identity_t<Value> value) const {
    field.store(value);
  }
  /// A struct of them.
  template <template <uint32_t> class Part>
  [[gnu::always_inline]] Opened<Part<kOpens>> part(Part<kOpens>& part) const {
    return Opened<Part<kOpens>>(part);
  }

 private:
  friend class Txn;
  OpenedFields() = default;
};

// As many fields, each noted alone. Twice kUndoOfOne: an operation that changes many messages in one
// transaction goes on while there is room for the worst one.
inline constexpr uint32_t kUndoEntries = 4096;
// The most that the start or the end of one message may note. Measured: 1,068 for a tenant of eight levels
// with 700 siblings, a limit and a pool at each; and that doubled, since rings may be larger.
inline constexpr uint32_t kUndoOfOne = 2048;

inline constexpr uint32_t kNoteBytesMax = 128;
// And room behind them for what comes to the end of them.
inline constexpr uint32_t kUndoWords = 2 * kUndoEntries + kNoteBytesMax / 8 + 1;

/// Notes one behind the other, each the old bytes, filled up to whole words, and then a word of
/// offset << 8 | bytes. So they are read from the end on, which is how they are put back.
struct UndoLog {
  uint32_t count;  // words in use
  uint32_t zero;
  uint64_t words[kUndoWords];
};
static_assert(sizeof(UndoLog) == 8 + 8 * kUndoWords);

/// Of the region, where it lay and what it was.
struct UndoNote {
  uint64_t offset;
  uint64_t bytes;
  const uint64_t* old;
  uint32_t begins_at;  // in words of the log
};
/// The one that ends before word `end`, which is not 0. None: it is no note.
inline std::optional<UndoNote> undo_note_before(const UndoLog& log, uint32_t end) {
  const uint64_t told = log.words[end - 1];
  const uint64_t bytes = told & 0xff;
  const uint64_t words = (bytes + 7) / 8 + 1;
  if (bytes == 0 || bytes > kNoteBytesMax || words > end) return std::nullopt;
  const uint32_t begins_at = end - static_cast<uint32_t>(words);
  return UndoNote{told >> 8, bytes, log.words + begins_at, begins_at};
}

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
      : next_(log.words),
        end_(log.words + 2 * kUndoEntries),
        base_(base),
        bytes_(bytes),
        log_(log),
        changed_(changed),
        notes_all_(is_watched()) {}
  /// Over a region that no other process knows yet, and that goes when its maker dies: notes nothing, takes
  /// nothing back.
  struct Private {};
  Txn(Private, std::byte* base, UndoLog& log)
      : next_(log.words), end_(log.words), base_(base), bytes_(0), log_(log) {
    open_none();
  }
  Txn(const Txn&) = delete;
  Txn& operator=(const Txn&) = delete;
  ~Txn() {
    check_noted();
    if (log_.count != 0) undo_rollback(base_, bytes_, log_);
  }

  // Inline wherever it is used: an operation makes dozens of these, and a call costs as much as the work.
  template <class T, uint32_t kOpens>
  [[gnu::always_inline]] void set(Shared<T, kOpens>& field, std::type_identity_t<T> value) {
    if constexpr (kOpens != kNotOpened) {
      const uintptr_t into = reinterpret_cast<uintptr_t>(&field) - opened_[kOpens].at;
      if (__builtin_expect(into >= opened_[kOpens].bytes, 0)) note_apart<sizeof(T)>(&field.value_);
    } else {
      uint64_t old_value = 0;
      std::memcpy(&old_value, &field.value_, sizeof(T));
      note(&field.value_, sizeof(T), old_value);
    }
    field.store(value);
    if constexpr (kOpens == kNotOpened) std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  /// Notes what of `whole` is noted together, unless it is the last of this kind that was opened. Worth it
  /// from three stores on.
  template <uint32_t kKind, class T>
  [[gnu::always_inline]] Opened<T> open(T& whole) {
    typename Opened<T>::Noted& noted = whole;
    note_whole<kKind, sizeof noted>(&noted);
    return Opened<T>(whole);
  }
  /// The same for kBytes from `first` on, in which all fields of this kind lie.
  template <uint32_t kOpens, size_t kBytes>
  [[gnu::always_inline]] OpenedFields<kOpens> open_fields(void* first) {
    static_assert(kOpens != kNotOpened);
    note_whole<kOpens, kBytes>(first);
    return {};
  }

  /// Writes a field of a slot that nothing reachable refers to yet: not undone, since after an undo it is not
  /// looked at. Never for a field that a free list reads.
  template <class T, uint32_t kOpens>
  [[gnu::always_inline]] void fresh(Shared<T, kOpens>& field, std::type_identity_t<T> value) {
    if (__builtin_expect(notes_all_, false)) return set_apart(field, value);
    field.value_ = value;
    FQ_POINT("txn.store");
  }
  /// Something reachable was freed: an element taken from now on may be it, and an undo brings it back.
  void note_freed() { notes_all_ = true; }

  void commit() {
    check_noted();
    if (__builtin_expect(is_watched(), false)) mark_changes();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log_.count = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    next_ = log_.words;
    open_none();
    notes_all_ = is_watched();
  }

  /// In fields that are noted alone.
  uint32_t noted() const { return (log_.count + 1) / 2; }

 private:
  struct Stretch {
    uintptr_t at = 0;
    size_t bytes = 0;
  };

  /// To a caller that notes nothing all is open.
  void open_none() {
    if (!is_private()) return static_cast<void>(std::memset(static_cast<void*>(opened_), 0, sizeof opened_));
    for (Stretch& each : opened_) each = {0, SIZE_MAX};
  }

  template <uint32_t kKind, size_t kBytes>
  [[gnu::always_inline]] void note_whole(void* first) {
    static_assert(kKind < kOpenKinds);
    static_assert(kBytes % 8 == 0 && kBytes <= kNoteBytesMax);
    const auto at = reinterpret_cast<uintptr_t>(first);
    if (kKind != kNotOpened && opened_[kKind].at == at) return;
    if (__builtin_expect(next_ >= end_, 0)) return check_private();
    std::memcpy(next_, first, kBytes);
    count_note<kBytes / 8>(first, kBytes);
    if constexpr (kKind != kNotOpened) opened_[kKind] = {at, kBytes};
  }

  template <class T, uint32_t kOpens>
  [[gnu::noinline]] void set_apart(Shared<T, kOpens>& field, T value) {
    set(field, value);
  }
  template <uint32_t kFieldBytes>
  [[gnu::noinline]] void note_apart(const void* field) {
    uint64_t old_value = 0;
    std::memcpy(&old_value, field, kFieldBytes);
    note(field, kFieldBytes, old_value);
  }

  [[gnu::always_inline]] void note(const void* field, uint32_t field_bytes, uint64_t old_value) {
    if (__builtin_expect(next_ >= end_, 0)) return check_private();
    store_word(next_, old_value);
    count_note<1>(field, field_bytes);
  }

  /// By itself: the compiler would rather put two together first, which takes longer than the second store.
  [[gnu::always_inline]] static void store_word(uint64_t* to, uint64_t word) {
    __atomic_store_n(to, word, __ATOMIC_RELAXED);
  }

  /// Its old value, of so many words, lies at next_ already.
  template <uint32_t kWords>
  [[gnu::always_inline]] void count_note(const void* first, uint64_t bytes) {
    const auto offset = static_cast<uint64_t>(static_cast<const std::byte*>(first) - base_);
    store_word(next_ + kWords, offset << 8 | bytes);
    next_ += kWords + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the note before the count (U1)
    log_.count = log_.count + kWords + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the count before the store (U3)
  }

  void check_private() const { FQ_ASSERT(is_private()); }
  /// That nothing was noted before it began. Told at the end, since a page that is read first and written
  /// later is mapped twice.
  void check_noted() const { FQ_ASSERT(log_.count == static_cast<size_t>(next_ - log_.words)); }

  bool is_watched() const { return changed_ != nullptr && changed_->is_watched(); }

  /// Before the commit: a process that dies in between has marked blocks that it did not change.
  void mark_changes();

  bool is_private() const { return end_ == log_.words; }

  uint64_t* next_;  // &log_.words[log_.count]
  uint64_t* end_;   // beyond it nothing is noted; private: the first
  std::byte* base_;
  uint64_t bytes_;
  UndoLog& log_;
  ChangedBlocks* changed_ = nullptr;
  Stretch opened_[kOpenKinds];  // the last of each kind
  bool notes_all_ = false;      // also what is stored into slots that nothing refers to
};

}  // namespace fq
