// values - option values and fields of a line as typed numbers, times and names.
//
// `name` is what the person wrote it for ("--delay", "delay"); it starts the message. Faults are
// ErrorKind::usage; the batch reader turns them into bad data and adds the line.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/message.h"
#include "core/base/result.h"

namespace fq::cli {

Error usage_error(std::string_view name, std::string_view what);
/// `typed` is not `what` ("a state"): the nearest of `words`, else all of them.
Error not_among(std::string_view name, std::string_view typed, std::string_view what,
                std::span<const std::string_view> words);

Result<int64_t> to_duration(std::string_view name, std::string_view text);
/// The same, but longer than nothing.
Result<int64_t> to_positive_duration(std::string_view name, std::string_view text);
/// Either as a number, or `word`, which is the absence of any: none where there is nothing to wait for,
/// unlimited where there is no end.
Result<std::optional<int64_t>> to_duration_or(std::string_view word, std::string_view name,
                                              std::string_view text);
Result<std::optional<int64_t>> to_positive_duration_or(std::string_view word, std::string_view name,
                                                       std::string_view text);
/// A count of 1 or more, or unlimited.
Result<std::optional<uint64_t>> to_count_or_unlimited(std::string_view name, std::string_view text);
Result<int64_t> to_wall_time(std::string_view name, std::string_view text);
/// 1 or more.
Result<uint64_t> to_count(std::string_view name, std::string_view text, uint64_t most);
Result<int32_t> to_priority(std::string_view name, std::string_view text);
Result<std::string> to_tenant(std::string_view name, std::string_view text);
Result<std::string> to_queue(std::string_view name, std::string_view text);
/// The encoded form.
Result<std::string> to_sort_key(std::string_view name, std::string_view text);
/// keep, replace or after.
Result<UniqueMode> to_unique_mode(std::string_view name, std::string_view text);
/// One or more, with commas between.
Result<std::vector<MessageId>> to_id_list(std::string_view name, std::string_view text);
/// Of --unique and --debounce.
Result<std::string> to_unique_key(std::string_view name, std::string_view text);
Result<Tag> to_tag(std::string_view name, std::string_view text);
Result<void> check_tag(std::string_view name, const Tag& tag);
/// One that a queue has, which an older fq or a program took: its value may be any bytes.
Result<void> check_kept_tag(std::string_view name, const Tag& tag);
/// Adds it; of the same name the last one holds.
Result<void> add_tag(std::string_view name, std::vector<Tag>& tags, Tag tag);
Result<MessageId> to_id(std::string_view name, std::string_view text);
/// The word of fq jobs for leased; where a state is typed it is taken as that.
inline constexpr std::string_view kRunning = "running";
/// One of the states that a message in the queue can have; none for "all".
Result<std::optional<State>> to_state(std::string_view name, std::string_view text);

}  // namespace fq::cli
