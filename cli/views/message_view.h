// message_view - one message as JSON or for a person's eyes.
//
// Keys of the JSON form are a contract (fq.1): every key is there, null without a value, keys are only
// ever added.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/text/json_writer.h"

namespace fq::cli {

/// Of a finished message only state, attempts and history are kept; all else is null.
bool only_outcome_known(const MessageInfo& message);

/// Of one whose record is lost only what the queue itself knows is told.
bool record_known(const MessageInfo& message);
/// How long a finished message's last run took, where that is known.
std::optional<int64_t> run_ms(const MessageInfo& message);

/// A message as its delivery tells it, payload included; fields that only the queue knows are left out.
Result<MessageInfo> info_of(const Delivery& delivery);

/// The members, between begin_object and end_object.
void write_message(JsonWriter& json, std::string_view queue, const MessageInfo& message);

/// One object and a newline.
std::string message_line(std::string_view queue, const MessageInfo& message);

/// The fields of it that may be edited, as one object: a key a line, each of them there.
std::string message_form(const MessageInfo& message);

/// The words of a command as a shell would take them. Escaped.
std::string command_text(const JobCommand& command);
/// The contents of it, for a row of a table: its command or how its payload begins. Escaped.
std::string content_text(const MessageInfo& message, size_t columns);

/// "HOME, PATH" of "HOME=/root", "PATH=/bin": not their values, which may be secrets.
std::string names_text(const std::vector<std::string>& variables);
/// env: the variables of a command, or null.
void write_variables(JsonWriter& json, const std::optional<JobCommand>& command);

/// "process 7", and on which host, where that is not this one. Escaped.
std::string process_text(int pid, std::string_view host);
/// Of what the job of a dead worker has left there, which holds its message.
std::string left_behind_text(std::string_view host);

/// "4, 5".
std::string ids_text(const std::vector<MessageId>& ids);

/// "in 5m", "2h ago" or "now"; coarse: the nearest to come, the wholes that have passed.
std::string relative_time(int64_t wall_ms, int64_t now_ms);

}  // namespace fq::cli
