// step - a step that a message's job has done: where the journal tells of it, and the room that it takes.
//
// The steps of a message are chained from its Extra, the newest first, and all of them are freed at once,
// however many: the chain becomes a part of the free list. So an element does not say whether it is used. It
// is one of its message's steps while that message lives and its steps were forgotten as often (`fresh`) as
// when the step was made.
//
// Invariants
//  S1  step_count of an Extra is the length of its chain, which ends with oldest_step; step_bytes,
//      step_record_bytes and step_blob_bytes are the sums over it.
//  S2  No two steps of one message have one name.
#pragma once

// fq, below us.
#include "core/base/step_kind.h"
// fq, this room.
#include "core/schedule/memory/layout.h"

namespace fq {

inline constexpr uint32_t kStepBlob = 1;  // its output lies in blobs/

struct Step {
  Shared<uint64_t> hash;    // of its name
  Shared<uint64_t> id;      // of its message
  Shared<uint64_t> record;  // stream position of the record that tells it
  Shared<uint32_t> chain;   // the one before it of its message, or next free
  Shared<uint32_t> fresh;
  Shared<uint32_t> bytes;         // of its output
  Shared<uint32_t> record_bytes;  // in the journal
  Shared<uint32_t> item_offset;   // of its output, in that record
  Shared<uint32_t> flags;         // kStep...
  Shared<StepKind> kind;
};

}  // namespace fq
