// edit_fields - the changes that fq edit makes to a message: by options, or by the text typed into its form.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/message_patch.h"
// fq, this room.
#include "cli/requests/push_options.h"
#include "cli/words/arguments.h"

namespace fq::cli {

/// A MessagePatch, owned.
struct EditFields {
  std::optional<std::string> payload;
  std::optional<int32_t> priority;
  std::optional<std::string> key;  // encoded; "" none
  std::optional<int64_t> delay_ms;
  std::optional<int64_t> at_wall_ms;
  std::optional<std::optional<uint32_t>> attempts_max;
  std::optional<std::optional<int64_t>> timeout_ms;
  std::optional<std::optional<int64_t>> keep_ms;
  std::optional<std::optional<int64_t>> ttl_ms;
  std::vector<TagPatch> tags;
  std::optional<std::optional<JobCommand>> command;
};

/// The view that the door takes; `fields` must outlive it.
MessagePatch patch_of(const EditFields& fields);

/// All but the payload.
Result<EditFields> edit_fields_of(const Arguments& arguments);

/// The changes that make `after` of `before`: both are forms of one message.
Result<EditFields> difference(const std::string& before, const std::string& after);

/// Refuses fields that the queue's order would ignore.
Result<void> check_order(const EditFields& fields, Order order, std::string_view priority_name,
                         std::string_view key_name);

}  // namespace fq::cli
