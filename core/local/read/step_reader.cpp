#include "core/local/read/step_reader.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/local/files/blobs.h"

namespace fq {

namespace {

constexpr int kStepReadTries = 64;  // against compaction, which moves records

}  // namespace

StepSnapshot StepReader::see(uint32_t index) {
  const Step& step = schedule().steps().at(index);
  StepSnapshot seen;
  seen.index = index;
  seen.id = step.id;
  seen.record = step.record;
  seen.record_bytes = step.record_bytes;
  seen.kind = step.kind;
  seen.place = stream().table().place(step.record);
  seen.written_end = header().ring_start.load(std::memory_order_relaxed);
  return seen;
}

bool StepReader::is_unchanged(const StepSnapshot& seen) {
  const KeptSteps steps = schedule().steps();
  if (seen.index >= steps.end() || !steps.is_used(seen.index)) return false;
  const Step& step = steps.at(seen.index);
  return step.id == seen.id && step.record == seen.record;
}

Result<bool> StepReader::read(const StepSnapshot& seen, StoredStep& stored) {
  if (!seen.place) return false;
  FQ_TRY_SET(const bool found,
             reader().read_record(*seen.place, seen.record, seen.written_end, stored.bytes));
  if (!found) return false;
  const std::optional<RecordHeader> header = decode_header(seen.place->key, stored.bytes);
  if (!header || header->type != RecordType::stepped) return false;
  const Bytes body = Bytes(stored.bytes).subspan(kRecordHeaderBytes, header->bytes - kRecordHeaderBytes);
  std::optional<SteppedRecord> record = decode_stepped(body);
  if (!record || number(record->id) != seen.id) return false;
  stored.record = *record;
  return true;
}

Result<std::string> StepReader::output_of(const StoredStep& stored) {
  const MessageItem& output = stored.record.output;
  if (!output.blob) return std::string(as_text(output.payload));
  const auto lost = [&](const std::string& why) {
    return Error{ErrorKind::bad_data,
                 "step '" + std::string(stored.record.name) + "': its output is lost: " + why, 0};
  };
  Result<std::string> text = read_whole_blob(disk(), output);
  if (!text.ok() && is_lost(text.error())) return lost(text.error().text);
  return text;
}

/// False: there is no such message.
Result<bool> StepReader::see_all(MessageId id, std::vector<StepSnapshot>& all) {
  all.reserve(kStepsPerMessageMax);  // nothing is allocated under the lock
  bool there = false;
  FQ_TRY(locked([&]() -> Result<void> {
    all.clear();
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    there = slot.has_value();
    if (!slot) return {};
    const KeptSteps steps = schedule().steps();
    uint32_t i = steps.newest(schedule().messages().entry(*slot));
    for (; i != kNoIndex && all.size() < kStepsPerMessageMax; i = steps.at(i).chain) all.push_back(see(i));
    return {};
  }));
  return there;
}

Result<std::optional<std::vector<StepInfo>>> StepReader::list(MessageId id) {
  std::vector<StepSnapshot> all;
  std::vector<StepInfo> infos;
  for (int attempt = 1;; ++attempt) {
    FQ_TRY_SET(const bool there, see_all(id, all));
    if (!there) return std::optional<std::vector<StepInfo>>();
    infos.clear();
    bool whole = true;
    StoredStep stored;
    for (const StepSnapshot& seen : all) {
      FQ_TRY_SET(const bool readable, read(seen, stored));
      whole = whole && readable;
      if (!readable) continue;
      const SteppedRecord& step = stored.record;
      infos.push_back(
          {std::string(step.name), step.kind, step.at_wall_ms, step.output.payload_bytes, step.child});
    }
    if (whole || attempt == kStepReadTries) break;
    reader().forget();
  }
  std::reverse(infos.begin(), infos.end());
  return std::optional(std::move(infos));
}

void find_step_blobs(Link& link, const Entry& entry, std::vector<ItemPlace>& places) {
  const KeptSteps steps = link.schedule().steps();
  if (steps.blob_bytes(entry) == 0) return;
  StepLimit limit(kStepsPerMessageMax);
  for (uint32_t i = steps.newest(entry); i != kNoIndex; i = steps.at(i).chain) {
    limit.step();
    const Step& step = steps.at(i);
    if ((step.flags & kStepBlob) == 0) continue;
    const uint64_t position = step.record + step.item_offset;
    const std::optional<FilePlace> file = link.stream().table().place(position);
    if (file)
      places.push_back({position, *file, link.header().ring_start.load(std::memory_order_relaxed), true});
  }
}

}  // namespace fq
