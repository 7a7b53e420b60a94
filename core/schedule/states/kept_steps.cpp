#include "core/schedule/states/kept_steps.h"

// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/schedule/memory/extras.h"
#include "core/schedule/memory/id_index.h"
#include "core/base/name_hash.h"
#include "core/schedule/states/state.h"

namespace fq {

uint64_t KeptSteps::hash_of(std::string_view name) const {
  return hash_name(region_.root.hash_key[0], region_.root.hash_key[1], name);
}

uint32_t KeptSteps::newest(const Entry& entry) const {
  return has_extra(entry) ? region_.extra(entry.rank).steps.get() : kNoIndex;
}

uint32_t KeptSteps::count(const Entry& entry) const {
  return has_extra(entry) ? region_.extra(entry.rank).step_count.get() : 0;
}

uint32_t KeptSteps::bytes(const Entry& entry) const {
  return has_extra(entry) ? region_.extra(entry.rank).step_bytes.get() : 0;
}

uint32_t KeptSteps::blob_bytes(const Entry& entry) const {
  return has_extra(entry) ? region_.extra(entry.rank).step_blob_bytes.get() : 0;
}

uint32_t KeptSteps::find(const Entry& entry, std::string_view name) const {
  const uint64_t hash = hash_of(name);
  StepLimit limit(kStepsPerMessageMax);
  for (uint32_t i = newest(entry); i != kNoIndex; i = region_.step(i).chain) {
    limit.step();
    if (region_.step(i).hash == hash) return i;
  }
  return kNoIndex;
}

void KeptSteps::change_sums(Txn& txn, const Message& message, Extra& extra, const Sizes& from,
                            const Sizes& to) const {
  put(txn, extra.step_bytes, extra.step_bytes - from.bytes + to.bytes);
  put(txn, extra.step_record_bytes, extra.step_record_bytes - from.record_bytes + to.record_bytes);
  const uint32_t blob_before = from.blob ? from.bytes : 0, blob_after = to.blob ? to.bytes : 0;
  put(txn, extra.step_blob_bytes, extra.step_blob_bytes - blob_before + blob_after);
  States(region_).change_bytes(txn, message, from.bytes, to.bytes);
  auto& journal_bytes = region_.root.journal_bytes;
  put(txn, journal_bytes, journal_bytes - from.record_bytes + to.record_bytes);
}

void KeptSteps::set(Txn& txn, const Message& message, const StepState& state) const {
  Extra& extra = give_extra(txn, region_, message.entry);
  uint32_t i = find(message.entry, state.name);
  Sizes before;
  if (i == kNoIndex) {
    const auto [made, step] = take_element(txn, region_.arena, region_.root.steps, region_.root.step_supply);
    i = made;
    txn.fresh(step.hash, hash_of(state.name));
    txn.fresh(step.id, message.entry.id.get());
    txn.fresh(step.fresh, extra.fresh.get());
    put(txn, step.chain, extra.steps.get());  // noted: until the commit it is its place among the free ones
    if (extra.steps == kNoIndex) put(txn, extra.oldest_step, i);
    put(txn, extra.steps, i);
    add_to(txn, extra.step_count, 1);
  } else {
    const Step& step = region_.step(i);
    before = {step.bytes, step.record_bytes, (step.flags & kStepBlob) != 0};
  }
  Step& step = region_.step(i);
  put(txn, step.record, state.record);
  put(txn, step.record_bytes, state.record_bytes);
  put(txn, step.item_offset, state.item_offset);
  put(txn, step.bytes, state.bytes);
  put(txn, step.flags, state.blob ? kStepBlob : 0);
  put(txn, step.kind, state.kind);
  change_sums(txn, message, extra, before, {state.bytes, state.record_bytes, state.blob});
}

void KeptSteps::remove(Txn& txn, uint32_t i) const {
  Step& step = region_.step(i);
  const Message message = region_.message(entry_find(region_, step.id));
  Extra& extra = region_.extra(message.entry.rank);
  uint32_t newer = kNoIndex;
  StepLimit limit(kStepsPerMessageMax);
  for (uint32_t at = extra.steps; at != i; at = region_.step(at).chain) {
    limit.step();
    newer = at;
  }
  txn.set(newer == kNoIndex ? extra.steps : region_.step(newer).chain, step.chain.get());
  if (extra.oldest_step == i) put(txn, extra.oldest_step, newer);
  take_from(txn, extra.step_count, 1);
  change_sums(txn, message, extra, {step.bytes, step.record_bytes, (step.flags & kStepBlob) != 0}, {});
  put(txn, step.id, 0);
  free_element(txn, region_.root.step_supply, step, i);
}

void KeptSteps::move(Txn& txn, uint32_t step, uint64_t record) const {
  txn.set(region_.step(step).record, record);
}

void KeptSteps::drop(Txn& txn, const Message& message) const {
  Entry& entry = message.entry;
  if (!has_extra(entry)) return;
  Extra& extra = region_.extra(entry.rank);
  if (extra.steps == kNoIndex) return;
  ScheduleRoot& root = region_.root;
  Supply& supply = root.step_supply;
  txn.set(region_.step(extra.oldest_step).chain, supply.free_head.get());
  txn.set(supply.free_head, extra.steps.get());
  take_from(txn, supply.used, extra.step_count);
  txn.note_freed();
  take_from(txn, root.journal_bytes, extra.step_record_bytes.get());
  States(region_).change_bytes(txn, message, extra.step_bytes, 0);
  put(txn, extra.steps, kNoIndex);
  put(txn, extra.oldest_step, kNoIndex);
  put(txn, extra.step_count, 0);
  put(txn, extra.step_bytes, 0);
  put(txn, extra.step_record_bytes, 0);
  put(txn, extra.step_blob_bytes, 0);
  add_to(txn, extra.fresh, 1);
}

const Entry* KeptSteps::message_of(uint32_t index) const {
  const Step& step = region_.step(index);
  const uint32_t slot = step.id == 0 ? kNoIndex : entry_find(region_, step.id);
  if (slot == kNoIndex) return nullptr;
  const Entry& entry = region_.entry(slot);
  return has_extra(entry) && region_.extra(entry.rank).fresh == step.fresh ? &entry : nullptr;
}

bool KeptSteps::is_behind(uint32_t index) const {
  const Entry* const message = message_of(index);
  return message != nullptr && region_.step(index).record < message->item_position;
}

}  // namespace fq
