#include "cli/views/job_table.h"

// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/views/message_view.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kCommandColumns = 60, kTenantLeast = 8;

std::string exit_text(const MessageInfo& message) {
  if (message.exit) return std::to_string(*message.exit);
  return message.signal ? "signal " + std::to_string(*message.signal) : "-";
}

/// Since when it runs, when it is due, when it ended, else when it was pushed.
std::string time_text(const MessageInfo& message, int64_t now_wall_ms) {
  std::optional<int64_t> at = message.pushed_at_wall_ms;
  if (message.state == State::leased) at = message.started_at_wall_ms;
  if (message.state == State::delayed) at = message.due_at_wall_ms;
  if (message.ended_at_wall_ms) at = message.ended_at_wall_ms;
  return at ? relative_time(*at, now_wall_ms) : "-";
}

std::string worker_text(const MessageInfo& message) {
  const std::optional<int> pid = message.state == State::leased ? message.holder_pid : message.worker_pid;
  return pid ? std::to_string(*pid) : "-";
}

}  // namespace

JobTable::JobTable(int64_t now_wall_ms) : now_wall_ms_(now_wall_ms) {
  table_.right({2});
  table_.spare({4, 3});
  table_.shorten({5}, kTenantLeast);
  table_.crop({6});
  table_.row({"ID", "STATE", "EXIT", "TIME", "WORKER", "TENANT", "COMMAND"});
}

void JobTable::add(const MessageInfo& message) {
  ++count_;
  table_.row({std::to_string(number(message.id)),
              std::string(message.state == State::leased ? kRunning : name_of(message.state)),
              exit_text(message), time_text(message, now_wall_ms_), worker_text(message),
              shown(message.tenant), content_text(message, kCommandColumns)});
}

}  // namespace fq::cli
