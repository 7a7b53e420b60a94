// layout - the scheduler's data in the segment: messages, tenants, and the arrays that hold them.
//
// Indexes instead of pointers, every field Shared, so that only a transaction can change it. The sizes are
// a promise (96 bytes a message with its index and heap place, 256 a tenant) and are asserted below.
#pragma once

// System.
#include <optional>
// fq, below us.
#include "core/base/memory/arena.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/time/short_time.h"
#include "core/journal/record.h"

namespace fq {

enum class SlotIndex : uint32_t {};
enum class TenantIndex : uint32_t {};
enum class HolderIndex : uint16_t {};
inline constexpr SlotIndex kNoSlot{kNoIndex};
inline constexpr TenantIndex kNoTenant{kNoIndex};
inline constexpr TenantIndex kRootTenant{0};
inline constexpr uint32_t kRoot = static_cast<uint32_t>(kRootTenant);
inline constexpr HolderIndex kHeldByTime{0xffff};  // a lease that only its time ends
inline constexpr uint32_t kHoldersMax = 1024;      // consumers at once; arbitrary, two words each

// The parts that are opened as a whole (Txn::open).
inline constexpr uint32_t kOpensSums = 1;  // of the root
inline constexpr uint32_t kOpensEntry = 2;
inline constexpr uint32_t kOpensTenant = 3;  // a leaf, or the seat that is changed
inline constexpr uint32_t kOpensRing = 4;    // the node above it
template <class T>
using SumField = Shared<T, kOpensSums>;

/// An index as it is stored, where kNoIndex is none.
template <class Index>
constexpr std::optional<Index> index_or_none(uint32_t stored) {
  return stored == kNoIndex ? std::nullopt : std::optional(Index{stored});
}

/// A message, and after its end its outcome (see outcomes.h). The meaning of the links depends on its state:
/// in a lane (ready), in its holder's list (leased by a process), among those that ended, on the free list. A
/// change of its state opens it; a change of a neighbour notes its links alone.
struct Entry {
  Shared<uint64_t> id;
  Shared<uint32_t> chain;  // next in its id bucket, or next free; beside the id, to be found with it
  Shared<uint32_t> tenant;
  Shared<uint64_t> item_position;   // stream position of its item in the journal
  Shared<uint64_t> event_position;  // of the newest record about it; 0: only its push
  Shared<int64_t> at_ms;            // ready: since; delayed: due; leased: until (kNever: by a process); dead:
                                    // since; ended: wall time
  Shared<uint64_t> serial;          // leased: of this delivery
  Shared<uint32_t> prev;            // lane list or tree (left); holder's list
  Shared<uint32_t> next;            // lane list or tree (right); holder's list; ended: the next to end
  Shared<uint32_t> heap_place;      // kNoIndex: no timer
  Shared<uint32_t> rank;            // keyed: text pool index of the key; else the priority; extra: see Extra
  Shared<uint32_t> payload_bytes;
  Shared<uint32_t> deliveries;
  Shared<uint32_t> began_ms;      // leased: delivered at (boot ms modulo 2^32, see run_marks.h)
  Shared<uint16_t> attempts;      // that counted
  Shared<uint16_t> attempts_max;  // in force; 0: not leased yet and no own
  Shared<uint8_t> crashes;        // up to 255
  Shared<uint8_t> overhead;       // in the journal beside its payload, see overhead.h
  Shared<uint16_t> holder;        // leased: HolderIndex
  Shared<uint8_t> state;          // SlotState; free: or ended
  Shared<uint8_t> flags;          // kEntry...
  Shared<uint8_t> height;         // in a lane's tree; leased: only nodes below this level were charged its
                                  // start; ended: how (RecordType)
  Shared<uint8_t> rough_cost;     // leased: what they were charged, see costs.h
};
static_assert(sizeof(Entry) == 88);

inline constexpr uint8_t kCommandCrashesMax = 5;  // of a command message: one that ends its workers is buried

inline constexpr uint8_t kEntryKeyed = 1;        // rank is a key
inline constexpr uint8_t kEntryOwnAttempts = 2;  // attempts_max was given at push
inline constexpr uint8_t kEntryInTree = 4;       // in its lane's tree, not in its list
inline constexpr uint8_t kEntryBlob = 8;         // its payload lies in blobs/
inline constexpr uint8_t kEntryExtra = 16;       // rank is the index of its Extra
inline constexpr uint8_t kEntryUnwritten = 32;   // changed in memory only: the journal knows an older state
inline constexpr uint8_t kEntryKept = 64;        // its push says how long it is told of after its end
inline constexpr uint8_t kEntryCommand = 128;    // a command message
inline constexpr uint8_t kEntryJob = kEntryKept | kEntryCommand;

/// The fields that few messages have besides, so that the others need not pay for them.
struct Extra {
  Shared<int64_t> ttl_ms;  // from when it is due, before its first start only; kNever: none (any more)
  Shared<uint32_t> rank;   // the rank proper
  Shared<uint32_t> chain;  // next free
  Shared<uint32_t> flags;  // kExtra...
  Shared<uint32_t> key;    // its UniqueKey, or none
  Shared<uint32_t> waits;  // the first of its Waits, or none
  Shared<uint32_t> steps;  // the newest of its Steps, or none
  Shared<int64_t> due_ms;  // held: not before; with kExtraFromRelease so long after its release
  // Of its steps, see step.h.
  Shared<uint32_t> oldest_step;
  Shared<uint32_t> step_count;
  Shared<uint32_t> step_bytes;         // of their outputs
  Shared<uint32_t> step_record_bytes;  // that they take in the journal
  Shared<uint32_t> step_blob_bytes;    // of their outputs, in blobs/
  Shared<uint32_t> fresh;              // how often its steps were forgotten
};

/// How a message that others wait for has ended, as far as that is known.
enum class Fate : uint32_t { unknown = 0, acked = 1, other = 2 };

/// A message that others wait for, see waits.h.
struct Dependency {
  Shared<uint64_t> id;
  Shared<uint32_t> chain;        // next in its bucket, or next free
  Shared<uint32_t> first, last;  // of the waits that are linked, oldest first
  Shared<uint32_t> waits;        // linked or not
  Shared<uint32_t> buried;       // the first wait of those that it buried
  Shared<uint32_t> ended;        // 1: in the list of those that ended
  Shared<uint32_t> ended_prev, ended_next;
  Shared<Fate> fate;
};
static_assert(sizeof(Dependency) == 48);

/// One message waits for one other.
struct Wait {
  Shared<uint32_t> waiter;      // slot
  Shared<uint32_t> dependency;  // index
  Shared<uint32_t> prev, next;  // of its dependency's
  Shared<uint32_t> chain;       // next of its waiter's, or next free
  Shared<uint32_t> flags;       // kWait...
};
static_assert(sizeof(Wait) == 24);

/// See unique_keys.h.
struct UniqueKey {
  Shared<uint64_t> hash[2];
  Shared<uint64_t> id;       // of its message
  Shared<int64_t> for_ms;    // held so long after the ack
  Shared<int64_t> until_ms;  // its message was acked: held until then; kNever: it has not ended
  Shared<int64_t> since_ms;  // boot time of its push
  Shared<uint32_t> chain;    // next in its bucket, or next free
  Shared<uint32_t> heap_place;
  Shared<uint32_t> flags;   // kKey...
  Shared<uint32_t> behind;  // the key of the message that is held behind its own, or none
};

inline constexpr uint32_t kExtraExpired = 1;      // dead because it was not started in time
inline constexpr uint32_t kExtraReplaced = 2;     // its payload came after its push, see Messages::replace
inline constexpr uint32_t kExtraFromRelease = 4;  // held: see due_ms
inline constexpr uint32_t kExtraSuspended = 8;    // leased: its end is a sleep until due_ms, or for its waits
inline constexpr uint32_t kExtraWaitFailed = 16;  // the last wait of a step: not all were acked
inline constexpr uint32_t kExtraTransit = 32;     // held: on its way from one queue to another
inline constexpr uint32_t kExtraTransitDead = 64;  // held: on its way, and dead once that is over
inline constexpr uint32_t kExtraTransits = kExtraTransit | kExtraTransitDead;

/// Things in an order: those that came in order in a list (O(1) at both ends), the others in a tree.
struct Lane {
  Shared<uint32_t> head;
  Shared<uint32_t> tail;
  Shared<uint32_t> root;
  Shared<uint32_t> count;  // of both
};

/// Times by powers of two; a bucket that is full halves them all, so that it speaks of recent ones.
struct Histogram {
  static constexpr uint32_t kBuckets = 24;  // the last is 2^22 ms (70 minutes) and more
  Shared<uint8_t> bucket[kBuckets];
  Shared<ShortTime> longest;         // since they were halved last
  Shared<ShortTime> longest_before;  // between then and the time before
};

struct Tenant;  // core/schedule/memory/tenant.h

/// 28 bytes of a text; the first cell's first two are its length, see text_pool.h.
struct TextCell {
  Shared<uint32_t> next;
  Shared<uint32_t> words[7];  // as bytes; words because each store is noted
};
static_assert(sizeof(TextCell) == 32);

struct IndexCell {
  Shared<uint32_t> index;
};

}  // namespace fq
