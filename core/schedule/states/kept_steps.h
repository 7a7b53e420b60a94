// kept_steps - the steps of messages: see memory/step.h.
#pragma once

// System.
#include <string_view>
// fq, this room.
#include "core/schedule/memory/arrays.h"
#include "core/schedule/memory/region.h"

namespace fq {

/// A step as its record tells it.
struct StepState {
  std::string_view name;
  StepKind kind{};
  uint64_t record = 0;
  uint32_t record_bytes = 0;
  uint32_t item_offset = 0;
  uint32_t bytes = 0;
  bool blob = false;
};

class KeptSteps {
 public:
  explicit KeptSteps(const Region& region) : region_(region) {}

  /// The step of this name, or kNoIndex. Walks all that the message has: for a process that works on it.
  uint32_t find(const Entry& entry, std::string_view name) const;
  const Step& at(uint32_t step) const { return region_.step(step); }
  /// The newest of a message, or kNoIndex; each leads to the one before it.
  uint32_t newest(const Entry& entry) const;
  uint32_t count(const Entry& entry) const;
  /// Of the outputs of all of them.
  uint32_t bytes(const Entry& entry) const;
  uint32_t blob_bytes(const Entry& entry) const;  // of these, in blobs/

  /// Adds a step, or changes one that is there. At most 16 steps. Needs: room for need().
  void set(Txn& txn, const Message& message, const StepState& state) const;
  /// Its record was copied forward.
  void move(Txn& txn, uint32_t step, uint64_t record) const;
  /// It was damaged.
  void remove(Txn& txn, uint32_t step) const;
  /// All of a message, however many. At most 10 steps.
  void drop(Txn& txn, const Message& message) const;
  static Need need() { return {.extras = 1, .steps = 1}; }

  /// For a look through all: the element at `index` below end(), and whether it is a step of a message.
  uint32_t end() const { return region_.root.step_supply.high_water; }
  bool is_used(uint32_t index) const { return message_of(index) != nullptr; }
  /// A step whose message was copied forward past it: the record of a message keeps the files behind it, and so
  /// the records of all steps that follow it.
  bool is_behind(uint32_t index) const;

 private:
  struct Sizes {
    uint32_t bytes = 0;
    uint32_t record_bytes = 0;
    bool blob = false;
  };
  /// Of a message that has a step of other sizes.
  void change_sums(Txn& txn, const Message& message, Extra& extra, const Sizes& from, const Sizes& to) const;
  uint64_t hash_of(std::string_view name) const;
  /// Null: the element is no step.
  const Entry* message_of(uint32_t index) const;

  const Region& region_;
};

}  // namespace fq
