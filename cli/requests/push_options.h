// push_options - the fields of a message to be pushed, from the options and from the fields of a line.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/result.h"
// fq, this room.
#include "cli/words/arguments.h"

namespace fq::cli {

/// All of a message but its payload, owned.
struct PushFields {
  std::string tenant = std::string(kDefaultTenant);
  std::optional<int32_t> priority;
  std::string key;  // encoded; "" none
  std::optional<int64_t> delay_ms;
  std::optional<int64_t> at_wall_ms;
  std::optional<uint32_t> attempts_max;
  std::vector<Tag> tags;
  std::optional<JobCommand> command;  // only by options
  std::optional<int64_t> timeout_ms;
  std::optional<int64_t> keep_ms;
  std::optional<int64_t> ttl_ms;
  std::string unique;  // "" none
  std::optional<int64_t> unique_for_ms;
  std::optional<UniqueMode> unique_mode;
  std::vector<MessageId> after;
  std::vector<MessageId> after_any;
  std::string debounce;  // "" none; only by options
  int64_t quiet_ms = 0;
  std::optional<int64_t> max_wait_ms;
};

/// The view that the door takes; `fields` and `payload` must outlive it.
NewMessage message_of(const PushFields& fields, std::string_view payload);

/// From the options, with $FQ_TENANT below them.
Result<PushFields> fields_of(const Arguments& arguments);

/// Those of one push that nothing else speaks of: neither keys nor what it comes after.
Result<PushFields> single_fields_of(const Arguments& arguments);

/// Those of them that do not speak of one push alone: neither when it is due nor what it is unique by.
Result<PushFields> lasting_fields_of(const Arguments& arguments);

/// Refuses fields that the message that waits would not get from one that replaces it: --unique-mode replace.
Result<void> check_replacement(const PushFields& fields, std::string_view mode_name);

/// Refuses fields that the queue's order would ignore.
Result<void> check_order(const PushFields& fields, Order order, std::string_view priority_name,
                         std::string_view key_name);

/// Refuses what is to come after others: in a queue that has had no message it comes after nothing.
Result<void> check_comes_first(const PushFields& fields);

struct PushLine {
  PushFields fields;
  std::string payload;
};

/// One object of --ndjson; `defaults` are the options. The fault is bad data without the line's number.
Result<PushLine> parse_push_line(std::string_view line, const PushFields& defaults, Order order);
/// The same, whatever the queue's order is.
Result<PushLine> parse_message(std::string_view line, const PushFields& defaults);

}  // namespace fq::cli
