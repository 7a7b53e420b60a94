// export - writes a queue as lines of JSON, which fq import takes in, whatever engine keeps the other queue.

// System.
#include <algorithm>
#include <cerrno>
#include <unordered_set>
// fq, below us.
#include "core/api/exported_ids.h"
#include "core/base/clock.h"
#include "core/base/text/counted.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/views/export_view.h"
#include "cli/words/command.h"
#include "cli/words/values.h"
#include "cli/terminal/typed_command.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kExportOptions[] = {
    {"How", 0, "live", Takes::nothing, "", "do not pause the queue; what changes later is missed"},
};

constexpr size_t kIdsPerPage = 1024;  // looked for in one turn: arbitrary

/// Writes messages, each behind those that it names.
class Exporting {
 public:
  Exporting(Session& session, Queue& queue) : session_(session), queue_(queue) {}

  Result<void> write_all() {
    std::vector<MessageId> later;
    Cursor from;
    do {
      FQ_TRY_SET(const IdPage page, queue_.select(Filter{}, from, kIdsPerPage));
      from = page.next;
      for (const MessageId id : page.ids) {
        FQ_TRY_SET(const std::optional<ExportedMessage> message, queue_.exported(id));
        if (!message) continue;  // it has ended since
        const std::vector<MessageId> named = named_by(*message);
        const bool now =
            std::all_of(named.begin(), named.end(), [&](MessageId each) { return is_written(each); });
        if (now) FQ_TRY(write(*message));
        if (!now) later.push_back(id);
      }
    } while (goes_on(from));
    for (const MessageId id : later) FQ_TRY(write_behind_named(id));
    return {};
  }

  /// Those that fq.toml names stand there, and are made of it elsewhere.
  Result<void> write_schedules() {
    Schedules* const schedules = queue_.schedules();
    if (schedules == nullptr) return {};
    Cursor from;
    do {
      FQ_TRY_SET(const SchedulePage page, schedules->list(from, kIdsPerPage));
      from = page.next;
      for (const ScheduleInfo& each : page.schedules) {
        if (each.of_file) continue;
        FQ_TRY(write(each));
      }
    } while (goes_on(from));
    return {};
  }

  uint64_t written() const { return count_; }
  uint64_t schedules_written() const { return schedules_; }
  uint64_t lost() const { return lost_; }

 private:
  bool is_written(MessageId id) const { return written_.contains(number(id)); }

  Result<void> write(const ExportedMessage& message) {
    // Signals come through here: to a file a write lets none through.
    if (ending_was_asked()) return sys_error("write", "standard output", EINTR);
    if (!message.lost.empty()) {
      say("message " + std::to_string(number(message.id)) + ": " + message.lost +
          "; it is not in the export");
      ++lost_;
      return {};
    }
    written_.insert(number(message.id));
    ++count_;
    return session_.out().write(exported_lines(message));
  }

  Result<void> write(const ScheduleInfo& schedule) {
    if (schedule.spec.empty()) {
      say("schedule " + in_quotes(schedule.name) + ": " + schedule.fault + "; it is not in the export");
      ++lost_;
      return {};
    }
    ++schedules_;
    return session_.out().write(exported_schedule(schedule));
  }

  /// One that waits for those that it names to be written.
  struct Waiting {
    MessageId id{};
    std::vector<MessageId> named;  // the next one last
  };

  /// What its steps or its waits name and has ended is told by how it did. Two that name each other cannot
  /// both be first: then the one does without the other. How many name each other in a row is up to what jobs
  /// push, so they wait in a list and not on the stack, and without their payloads.
  Result<void> write_behind_named(MessageId id) {
    std::vector<Waiting> waiting;
    FQ_TRY(begin(id, waiting));
    while (!waiting.empty()) {
      std::vector<MessageId>& named = waiting.back().named;
      if (named.empty()) {
        FQ_TRY(write_waiting(waiting.back().id));
        waiting.pop_back();
        continue;
      }
      const MessageId next = named.back();
      named.pop_back();
      FQ_TRY(begin(next, waiting));
    }
    return {};
  }

  Result<void> begin(MessageId id, std::vector<Waiting>& waiting) {
    if (is_written(id) || !begun_.insert(number(id)).second) return {};
    FQ_TRY_SET(const std::optional<ExportedMessage> message, queue_.exported(id));
    if (!message) return write_end(id);
    // It would take the key of the one that it is behind, if it came first: its turn is later.
    if (ongoing_.contains(number(message->behind))) {
      begun_.erase(number(id));
      return {};
    }
    ongoing_.insert(number(id));
    std::vector<MessageId> named = named_by(*message);
    std::reverse(named.begin(), named.end());
    waiting.push_back({id, std::move(named)});
    return {};
  }

  /// Read again: meanwhile it may have ended.
  Result<void> write_waiting(MessageId id) {
    ongoing_.erase(number(id));
    FQ_TRY_SET(const std::optional<ExportedMessage> message, queue_.exported(id));
    return message ? write(without_unwritten(*message)) : write_end(id);
  }

  Result<void> write_end(MessageId id) {
    FQ_TRY_SET(const std::optional<MessageInfo> info, queue_.get(id));
    if (!info || (!has_ended(info->state))) return {};
    ExportedMessage end;
    end.id = id;
    end.state = info->state;
    return write(end);
  }

  ExportedMessage without_unwritten(ExportedMessage message) const {
    rename_others(message, [&](MessageId id) { return is_written(id) ? id : MessageId{}; });
    return message;
  }

  Session& session_;
  Queue& queue_;
  std::unordered_set<uint64_t> written_;
  std::unordered_set<uint64_t> begun_;    // of those that name others
  std::unordered_set<uint64_t> ongoing_;  // of those, the ones that wait for what they name
  uint64_t count_ = 0;
  uint64_t schedules_ = 0;
  uint64_t lost_ = 0;
};

struct SetByHand {
  std::vector<PolicyOverride> all;  // without a pause of the queue
  bool paused = false;
};

/// That the queue is paused is where it stands, and an export pauses it: the second one would pause the queue
/// that takes it in.
bool take_out_pause(std::vector<PolicyOverride>& all) {
  size_t taken = 0;
  for (PolicyOverride& each : all) {
    if (!each.path.empty()) continue;
    taken += std::erase_if(each.values, [](const auto& value) { return value.key == PolicyKey::paused; });
  }
  return taken > 0;
}

Result<SetByHand> settings_of(Queue& queue) {
  SetByHand settings;
  Cursor from;
  do {
    FQ_TRY_SET(OverridePage page, queue.policy_overrides(from, kIdsPerPage));
    from = page.next;
    for (PolicyOverride& each : page.overrides) settings.all.push_back(std::move(each));
  } while (goes_on(from));
  settings.paused = take_out_pause(settings.all);
  return settings;
}

Result<Exit> write_queue(Session& session, Queue& queue, const SetByHand& settings) {
  const int64_t now_wall_ms = system_clock().wall_ms();
  FQ_TRY_SET(const std::string origin, queue.origin());
  FQ_TRY(session.out().write(export_line(session.queue_name(), origin, now_wall_ms)));
  for (const PolicyOverride& each : settings.all) {
    for (const PolicyValue& value : each.values)
      FQ_TRY(session.out().write(setting_line(each.path, value, now_wall_ms)));
  }
  Exporting exporting(session, queue);
  FQ_TRY(exporting.write_all());
  FQ_TRY(exporting.write_schedules());
  FQ_TRY(session.out().write(end_line(exporting.written(), exporting.schedules_written())));
  FQ_TRY(session.out().flush());
  return exporting.lost() == 0 ? Exit::done : Exit::bad_data;
}

/// What runs goes on, and would run a second time elsewhere.
Result<void> say_what_runs(Session& session, Queue& queue) {
  FQ_TRY_SET(const StatsReply stats, queue.stats({}));
  const uint64_t running = stats.rows.empty() ? 0 : stats.rows[0].leased;
  if (running == 0) return {};
  say("queue " + in_quotes(session.queue_name()) + ": " + counted(running, "message") +
      (running == 1 ? " runs" : " run") +
      " and stands in the export as if it did not; wait for what runs and export again");
  return {};
}

/// Where it fails, or is told to end, the queue goes on, or it is said that it may not.
Result<Exit> write_paused(Session& session, Queue& queue, const SetByHand& settings) {
  catch_signals();
  const auto write = [&]() -> Result<Exit> {
    FQ_TRY(queue.policy_set("", {{{PolicyKey::paused, 1, 0, {}}}, {}}));
    FQ_TRY(say_what_runs(session, queue));
    return write_queue(session, queue, settings);
  };
  Result<Exit> written = write();
  const bool goes_on = !written && queue.policy_set("", {{}, {PolicyKey::paused}}).ok();
  if (goes_on) return written;
  say("queue " + in_quotes(session.queue_name()) +
      (written ? ": is paused now, so that nothing is served in two places; " : ": may be paused now; ") +
      typed_command("fq queue resume", session.queue_name()) + " ends that");
  return written;
}

/// A pause that a part of the queue does not hear of is none, so nothing is paused for it, either.
Result<void> refuse_parts(Session& session) {
  const AwayList away = session.take_away();
  if (away.is_empty()) return {};
  const ErrorKind kind = away.is_any_lost() ? ErrorKind::unusable : ErrorKind::later;
  return Error{kind,
               away.text() + "; nothing is paused and nothing written: " +
                   typed_command("fq export --live", session.queue_name()) + " writes what is there",
               0};
}

Result<Exit> run_export(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty())
    return usage_error("export", "takes no operands; it writes to standard output: fq export >FILE");
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(const SetByHand settings, settings_of(*queue));
  const bool pauses = !arguments.has("live") && !settings.paused;
  if (pauses) FQ_TRY(refuse_parts(session));
  if (!pauses) FQ_TRY(say_what_runs(session, *queue));
  if (settings.paused)
    say("queue " + in_quotes(session.queue_name()) +
        ": is paused, which is not in the export; the queue that takes it in goes on");
  Result<Exit> written =
      pauses ? write_paused(session, *queue, settings) : write_queue(session, *queue, settings);
  say_notices(*queue);
  return written;
}

}  // namespace

const Command export_command = {
    "export",
    "write a queue as lines of JSON",
    "[--live]",
    "Writes all that a queue holds, and its settings, as lines of JSON for fq import.\n"
    "The queue is paused first and stays so.",
    {kExportOptions, &kQueueOption, ""},
    "fq export -q mail >mail.ndjson",
    "0 all written; 1 nothing there; 65 some were damaged (each is named)",
    run_export,
};

}  // namespace fq::cli
