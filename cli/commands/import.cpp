// import - takes in an export by fq export, each message under a new id.

// System.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
// fq, below us.
#include "core/api/command_check.h"
#include "core/api/exported_ids.h"
#include "core/base/clock.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/requests/import_line.h"
#include "cli/requests/numbered_lines.h"
#include "cli/session/session.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kMessagesAtOnce = 64;          // between two syncs: chosen, as of a move
constexpr uint64_t kBytesAtOnce = 1024 * 1024;  // arbitrary

/// What a schedule makes.
NewMessage made_message(const ExportedMessage& made) {
  NewMessage message;
  message.tenant = made.tenant;
  message.payload = as_bytes(made.payload);
  message.priority = made.priority;
  message.key = made.key;
  message.attempts_max = made.attempts_max;
  message.tags = made.tags;
  message.command = made.command;
  message.timeout_ms = made.timeout_ms;
  message.keep_ms = made.keep_ms;
  if (made.ttl_ms != 0) message.ttl_ms = made.ttl_ms;
  return message;
}

Error broken(std::string text) { return Error{ErrorKind::bad_data, std::move(text), 0}; }

/// False: there are no more. Blank lines are none.
Result<bool> next_line(NumberedLines& lines, std::string_view& text) {
  for (;;) {
    FQ_TRY_SET(const bool more, lines.next(text));
    if (!more || text.find_first_not_of(" \t\r") != std::string_view::npos) return more;
  }
}

/// The origin in the first line, without which it is no export, which should make no queue.
Result<std::string> read_beginning(NumberedLines& lines) {
  std::string_view text;
  FQ_TRY_SET(const bool more, next_line(lines, text));
  if (!more) return broken(lines.name() + ": is empty, and no export");
  Result<ImportLine> read = parse_import_line(text, system_clock().wall_ms());
  if (!read) return lines.fault(read.error());
  if (read.value().kind != ImportLine::Kind::begin)
    return lines.fault(broken("is not the first line of an export"));
  return std::move(read).value().origin;
}

/// The queue that takes it in, made when there is something to take in.
class ImportTarget {
 public:
  explicit ImportTarget(Session& session) : session_(session) {}

  /// What a queue that is not there would have.
  Result<Settings> settings() {
    Result<std::unique_ptr<Queue>> there = session_.open(Session::Policy::last_good);
    if (there) {
      queue_ = std::move(there).value();
      return queue_->settings();
    }
    if (there.error().kind != ErrorKind::missing) return there.error();
    return settings_to_be(session_.location());
  }
  /// Made, if it is not there.
  Result<Queue*> open() {
    if (!queue_) {
      FQ_TRY_SET(queue_, session_.open(Session::Policy::last_good, Session::Missing::is_made_and_said));
    }
    return queue_.get();
  }
  /// Of one that is there the queue itself says it.
  Result<void> check_takes(const std::optional<JobCommand>& command) const {
    if (queue_ || !command) return {};
    return check_takes_commands(session_.spool(), "command");
  }

 private:
  Session& session_;
  std::unique_ptr<Queue> queue_;
};

class Importing {
 public:
  /// `origin`: from the first line, which has been read.
  Importing(Session& session, ImportTarget& target, NumberedLines& lines, std::string origin)
      : session_(session), target_(target), lines_(lines), origin_(std::move(origin)) {}

  /// False: some were refused, each named.
  Result<bool> run() {
    std::string_view text;
    for (;;) {
      FQ_TRY_SET(const bool more, next_line(lines_, text));
      if (!more) break;
      Result<void> taken = take_line(text);
      // What stands before a bad line is good.
      if (!taken) FQ_TRY(send());
      if (!taken) return std::move(taken).error();
    }
    FQ_TRY(send());
    if (!ended_)
      return broken(lines_.name() +
                    ": ends before the last line of an export; what it has was taken, the rest "
                    "comes with a whole one");
    const bool all = refused_.empty() && !some_refused_;
    // An export of an empty queue makes one.
    if (all || !last_.set.empty()) {
      FQ_TRY_SET(Queue* const queue, target_.open());
      if (!last_.set.empty()) FQ_TRY(queue->policy_set("", last_));
    }
    return all;
  }

 private:
  Result<void> take_line(std::string_view text) {
    Result<ImportLine> read = parse_import_line(text, system_clock().wall_ms());
    if (!read) return lines_.fault(read.error());
    ImportLine line = std::move(read).value();
    if (line.kind == ImportLine::Kind::begin) return lines_.fault(broken("is a second first line"));
    if (ended_) return lines_.fault(broken("stands behind the last line"));
    if (!patch_.set.empty() && (line.kind != ImportLine::Kind::setting || line.tenant != patched_))
      FQ_TRY(set());
    if (line.kind == ImportLine::Kind::setting && line.value) note_setting(std::move(line));
    if (line.kind == ImportLine::Kind::step) steps_.emplace_back(line.of, std::move(line.step));
    if (line.kind == ImportLine::Kind::message) return take_message(std::move(line));
    if (line.kind == ImportLine::Kind::schedule) return take_schedule(std::move(line));
    if (line.kind == ImportLine::Kind::end) return take_end(line);
    return {};
  }

  /// A queue that drains takes nothing in: that comes last.
  void note_setting(ImportLine line) {
    patched_ = line.tenant;
    PolicyPatch& patch = line.value->key == PolicyKey::draining ? last_ : patch_;
    patch.set.push_back(*std::move(line.value));
  }
  Result<void> set() {
    const PolicyPatch patch = std::exchange(patch_, {});
    FQ_TRY_SET(Queue* const queue, target_.open());
    return queue->policy_set(patched_, patch);
  }

  Result<void> take_end(const ImportLine& line) {
    ended_ = true;
    if (!steps_.empty()) return lines_.fault(broken("stands behind steps whose message is missing"));
    if (line.count != messages_)
      return lines_.fault(broken("tells of " + std::to_string(line.count) + " messages, there were " +
                                 std::to_string(messages_) + "; some lines are missing"));
    if (line.schedules != schedules_)
      return lines_.fault(broken("tells of " + std::to_string(line.schedules) + " schedules, there were " +
                                 std::to_string(schedules_) + "; some lines are missing"));
    return {};
  }

  /// Its last message is here by now, if it is to be. One that this queue cannot have stays out, as a message
  /// does.
  Result<void> take_schedule(ImportLine line) {
    ++schedules_;
    FQ_TRY(send());
    ScheduleDefinition& schedule = line.schedule;
    schedule.past->last_id = here(schedule.past->last_id);
    schedule.message = made_message(line.message);
    Result<void> set = set_schedule(schedule, line.message);
    if (set) return {};
    const ErrorKind kind = set.error().kind;
    if (kind != ErrorKind::bad_data && kind != ErrorKind::config && kind != ErrorKind::usage) return set;
    say("schedule " + in_quotes(schedule.name) + ": was not taken: " + set.error().text);
    some_refused_ = true;
    return {};
  }
  Result<void> set_schedule(const ScheduleDefinition& schedule, const ExportedMessage& made) {
    FQ_TRY(target_.check_takes(made.command));
    FQ_TRY_SET(Queue* const queue, target_.open());
    FQ_TRY_SET(const Settings settings, queue->settings());
    FQ_TRY(check_schedule_order(made, settings.order));
    if (queue->schedules() == nullptr) return broken("its engine has no schedules");
    return queue->schedules()->set(schedule);
  }
  static Result<void> check_schedule_order(const ExportedMessage& message, Order order) {
    if (message.priority != 0 && order != Order::priority)
      return broken("has a priority, which the queue's order ignores");
    if (!message.key.empty() && order != Order::key)
      return broken("has a sort key, which the queue's order ignores");
    return {};
  }

  Result<void> take_message(ImportLine line) {
    ++messages_;
    ExportedMessage& message = line.message;
    const bool own =
        std::all_of(steps_.begin(), steps_.end(), [&](const auto& step) { return step.first == message.id; });
    if (!own || steps_.size() != line.count)
      return lines_.fault(broken("message " + std::to_string(number(message.id)) + ": has " +
                                 std::to_string(line.count) + " steps, before it stand others"));
    for (auto& [of, step] : steps_) message.steps.push_back(std::move(step));
    steps_.clear();
    if (names_some_in_hand(message)) FQ_TRY(send());
    FQ_TRY_SET(const bool is_whole, replace_ids(message));
    if (!is_whole) return {};
    bytes_ += message.payload.size();
    in_hand_.push_back(std::move(message));
    if (in_hand_.size() < kMessagesAtOnce && bytes_ < kBytesAtOnce) return {};
    return send();
  }

  bool names_some_in_hand(const ExportedMessage& message) const {
    const std::vector<MessageId> named = named_by(message);
    return std::any_of(in_hand_.begin(), in_hand_.end(), [&](const ExportedMessage& each) {
      return std::find(named.begin(), named.end(), each.id) != named.end();
    });
  }

  MessageId here(MessageId id) const {
    const auto found = ids_.find(number(id));
    return found == ids_.end() ? MessageId{} : found->second;
  }

  /// By those that they have here. False: it cannot be taken in without one that was refused.
  Result<bool> replace_ids(ExportedMessage& message) {
    for (const ExportedWait& wait : message.after) {
      FQ_TRY_SET(const bool known, wait.closed ? Result<bool>(true) : is_known(message, wait.id));
      if (!known) return false;
    }
    if (number(message.behind) != 0) {
      FQ_TRY_SET(const bool known, is_known(message, message.behind));
      if (!known) return false;
    }
    rename_others(message, [this](MessageId id) { return here(id); });
    return true;
  }
  Result<bool> is_known(const ExportedMessage& message, MessageId id) {
    if (number(here(id)) != 0) return true;
    if (!refused_.contains(number(id)))
      return lines_.fault(broken("message " + std::to_string(number(message.id)) + ": comes after message " +
                                 std::to_string(number(id)) + ", which does not stand before it"));
    refuse(message.id, "comes after message " + std::to_string(number(id)) + ", which was not taken");
    return false;
  }
  void refuse(MessageId id, const std::string& why) {
    say("message " + std::to_string(number(id)) + ": " + why + "; it was not taken");
    refused_.insert(number(id));
  }

  /// What no queue here would take makes none.
  void refuse_first_commands() {
    std::erase_if(in_hand_, [&](const ExportedMessage& each) {
      const Result<void> takes = target_.check_takes(each.command);
      if (!takes) refuse(each.id, takes.error().text);
      return !takes;
    });
  }

  Result<void> send() {
    refuse_first_commands();
    const std::vector<ExportedMessage> messages = std::exchange(in_hand_, {});
    bytes_ = 0;
    if (messages.empty()) return {};
    FQ_TRY_SET(Queue* const queue, target_.open());
    FQ_TRY_SET(const ImportReply reply, queue->import_messages(messages, origin_));
    say_notices(*queue);
    for (size_t i = 0; i < reply.items.size(); ++i) {
      const ImportResult& item = reply.items[i];
      if (item.what == ImportResult::What::refused) {
        refuse(messages[i].id, item.why);
        continue;
      }
      ids_[number(messages[i].id)] = item.id;
      FQ_TRY(session_.out().write(line_of(messages[i].id, item)));
    }
    FQ_TRY(session_.out().flush());
    if (!reply.error) return {};
    say("message " + std::to_string(number(messages[reply.items.size()].id)) +
        " and those behind it were not taken; the same import goes on with them");
    return *reply.error;
  }

  std::string line_of(MessageId id, const ImportResult& item) const {
    if (session_.format() == Format::human)
      return std::to_string(number(id)) + " " + std::to_string(number(item.id)) + "\n";
    std::string line;
    JsonWriter json(line);
    json.begin_object().key("id").number(number(id)).key("to_queue").text(session_.queue_name());
    json.key("to_id").number(number(item.id));
    json.key("status").text(item.what == ImportResult::What::known ? "known" : "imported").end_object();
    return line.append("\n");
  }

  Session& session_;
  ImportTarget& target_;
  NumberedLines& lines_;
  const std::string origin_;
  bool ended_ = false;
  uint64_t messages_ = 0;  // lines of them
  uint64_t schedules_ = 0;
  bool some_refused_ = false;  // schedules
  std::string patched_;        // whose settings are gathered
  PolicyPatch patch_;
  PolicyPatch last_;  // set when all is in
  std::vector<std::pair<MessageId, ExportedStep>> steps_;
  std::vector<ExportedMessage> in_hand_;
  uint64_t bytes_ = 0;
  std::unordered_map<uint64_t, MessageId> ids_;  // as they are here
  std::unordered_set<uint64_t> refused_;
};

Result<Reader> open_source(const Arguments& arguments) {
  const auto& operands = arguments.operands();
  if (operands.size() > 1)
    return usage_error("FILE", "is one file, " + std::to_string(operands.size()) + " were given");
  if (!operands.empty() && operands[0] != "-") return Reader::file(operands[0]);
  if (operands.empty() && !why_not_read_unasked().empty()) return not_read_unasked("FILE");
  return Reader::standard_input();
}

Result<Exit> run_import(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(Reader source, open_source(arguments));
  NumberedLines lines(std::move(source), json_line_bytes_max(0), "a line of an export");
  FQ_TRY_SET(std::string origin, read_beginning(lines));
  ImportTarget target(session);
  FQ_TRY_SET(const Settings settings, target.settings());
  lines.set_bytes_max(json_line_bytes_max(std::max<uint64_t>(settings.payload_bytes_max, kStepBytesMax)));
  FQ_TRY_SET(const bool all, Importing(session, target, lines, std::move(origin)).run());
  return all ? Exit::done : Exit::nothing;
}

}  // namespace

const Command import_command = {
    "import",
    "take in what export wrote",
    "[FILE | -]",
    "Takes in what fq export wrote; prints OLD NEW, the ids there and here.\n"
    "An import that broke off is run again: what is in is not taken twice.",
    {{}, &kQueueOption, "human|json"},
    "fq import -q mail mail.ndjson",
    "0 all are in; 1 some were refused (each is named);\n"
    "65 a line is bad, what stands before it is in; 75 full, run it again",
    run_import,
};

}  // namespace fq::cli
