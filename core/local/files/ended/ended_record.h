// ended_record - the record of a message after its end, and its bytes in a file of ended/.
//
// Each record stands by itself: its head is sealed with the number of its file and its place in it, so that a
// damaged one costs itself, and bytes that only look like a record are never taken for one.
#pragma once

// System.
#include <functional>
#include <optional>
#include <string>
// fq, below us.
#include "core/api/job_output.h"
#include "core/base/disk/disk.h"
#include "core/journal/record.h"

namespace fq {

/// The output of a job, where it is short enough to stand in the record.
struct EndedOutput {
  std::string out;
  std::string err;
  Gap out_gap = {};
  Gap err_gap = {};
};

struct EndedRecord {
  MessageId id{};
  RecordType verdict = RecordType::acked;  // acked, cancelled; buried: told for its output only
  int64_t until_wall_ms = 0;               // told until then
  int64_t ended_wall_ms = 0;
  int64_t pushed_wall_ms = 0;
  int64_t started_wall_ms = 0;  // of its last run; 0: it had none, or that is not known
  int32_t priority = 0;
  uint32_t pid = 0;  // of the worker; 0: not known
  uint32_t deliveries = 0;
  uint16_t attempts = 0;
  uint16_t attempts_max = 0;
  uint16_t crashes = 0;
  std::optional<int16_t> exit;  // of its last run
  std::optional<int16_t> signal;
  std::string tenant;
  std::string key;  // as in MessageItem, as are tags, job (without its variables) and terms
  std::string tags;
  std::string job;
  std::string terms;
  int64_t error_wall_ms = 0;  // 0: no attempt failed
  std::optional<int16_t> error_exit;
  std::optional<int16_t> error_signal;
  std::string error_reason;
  std::string error_stderr;
  std::string steps;  // see ended_steps.h
  std::optional<EndedOutput> output;
  uint64_t output_bytes = 0;  // in a file of output/; 0: there is none
};

/// The head of a record, and where the record stands.
struct EndedPlace {
  uint64_t id = 0;
  uint64_t offset = 0;
  uint32_t file = 0;
  uint32_t bytes = 0;
  int64_t until_wall_ms = 0;
  int64_t ended_wall_ms = 0;
  uint64_t output_bytes = 0;  // in a file of output/
  RecordType verdict{};
  bool has_output = false;

  /// With what lies in output/.
  uint64_t all_bytes() const { return bytes + output_bytes; }
  bool is(const EndedPlace& other) const { return file == other.file && offset == other.offset; }
};

std::string ended_file_name(uint32_t file);
/// 0: it is the name of none.
uint32_t ended_file_number(std::string_view name);

uint64_t ended_record_bytes(const EndedRecord& record);
/// Appends it to `to`, as it is to stand at `offset` of `file`.
void encode_ended(std::string& to, const EndedRecord& record, uint32_t file, uint64_t offset);
/// None: it is damaged, or not there any more.
Result<std::optional<EndedRecord>> read_ended(Disk& disk, const EndedPlace& place);

/// Calls `visit` for each record of a file whose head is whole, from a place on; damaged records are passed
/// over. Returns the end of the last one. A file that is not there, or none of ours, is empty.
Result<uint64_t> scan_ended(Disk& disk, uint32_t file, uint64_t from,
                            const std::function<void(const EndedPlace&)>& visit);

}  // namespace fq
