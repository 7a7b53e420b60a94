#include "cli/session/selection.h"

// System.
#include <unistd.h>

#include <algorithm>
// fq, below us.
#include "core/base/text/counted.h"
// fq, this room.
#include "cli/session/ending.h"
#include "cli/session/filter.h"
#include "cli/session/stopped_workers.h"
#include "cli/terminal/input.h"
#include "cli/terminal/signals.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kChangesPage = 256;  // changes in one turn: arbitrary

/// What keeps it from the rest, with what was done before.
Error told_in_part(uint64_t changed, Error error) {
  if (changed > 0)
    error.text += "; " + counted(changed, "message") + (changed == 1 ? " is" : " are") + " done";
  return error;
}

/// Before each page.
Result<void> unless_interrupted() {
  if (!ending_was_asked()) return {};
  return Error{ErrorKind::later, "interrupted", 0};
}

Result<Exit> act_on_ids(const Session& session, Queue& queue, const std::vector<MessageId>& ids,
                        Action action) {
  Exit exit = Exit::done;
  uint64_t changed = 0;
  for (size_t start = 0; start < ids.size(); start += kChangesPage) {
    if (const Result<void> goes_on = unless_interrupted(); !goes_on)
      return told_in_part(changed, goes_on.error());
    const size_t count = std::min(kChangesPage, ids.size() - start);
    const Result<MutateReply> said = queue.mutate(std::span(ids).subspan(start, count), action);
    if (!said) return told_in_part(changed, said.error());
    const MutateReply& reply = *said;
    say_notices(queue);
    for (size_t i = 0; i < reply.items.size(); ++i) {
      if (reply.items[i] == SettleStatus::ok) continue;
      if (reply.items[i] == SettleStatus::unknown) continue;
      exit = Exit::nothing;
      const MessageId id = ids[start + i];
      if (reply.items[i] == SettleStatus::gone) {
        FQ_TRY(say_gone(session, queue, id));
      } else {
        say("message " + std::to_string(number(id)) + ": " +
            (action != Action::cancel ? "is neither dead nor delayed" : "has ended already"));
      }
    }
    changed += reply.changed;
    if (reply.error) return told_in_part(changed, *reply.error);
  }
  return exit;
}

}  // namespace

std::vector<State> all_states() {
  return {State::ready, State::delayed, State::leased, State::held, State::dead};
}

Result<std::vector<MessageId>> ids_of(const Arguments& arguments) {
  FQ_TRY_SET(const std::vector<std::string> texts, expand_dash(arguments.operands()));
  std::vector<MessageId> ids;
  for (const std::string& text : texts) {
    FQ_TRY_SET(const MessageId id, to_id("ID", text));
    ids.push_back(id);
  }
  return ids;
}

Result<Selection> selection_of(const Arguments& arguments, std::span<const std::string_view> more,
                               std::string_view tenant) {
  std::vector<std::string_view> names{"tag"};
  names.insert(names.end(), more.begin(), more.end());
  std::string filters = "-t";
  bool filtered = arguments.has(tenant);
  for (const std::string_view name : names) {
    filters.append(", --").append(name);
    filtered = filtered || arguments.has(name);
  }
  const bool by_filter = filtered || arguments.has("all");
  const bool by_id = !arguments.operands().empty();
  if (by_filter && by_id)
    return usage_error("ID", "does not go with " + filters + " or --all; give one of them");
  if (arguments.has("all") && filtered)
    return usage_error("--all",
                       "does not go with " + filters + ", which select fewer messages; give one of them");
  if (!by_filter && !by_id)
    return usage_error(arguments.command().name, "which? give ids, " + filters + " or --all");
  if (!by_filter && (arguments.has("state") || arguments.has("count")))
    return usage_error("ID", "does not go with --state or -n, which are for " + filters + " and --all");
  Selection selection;
  FQ_TRY_SET(selection.ids, ids_of(arguments));
  FQ_TRY_SET(selection.filter, filter_of(arguments, tenant));
  if (const auto typed = arguments.value("count")) {
    FQ_TRY_SET(const std::optional<uint64_t> count, to_count_or_unlimited("-n", *typed));
    selection.count_max = count.value_or(UINT64_MAX);
  }
  return selection;
}

namespace {

/// Those that are held, the last ones first: to cancel one lets others go, or buries them, and what a filter
/// takes of a state by pages would miss these.
Result<void> cancel_held(Queue& queue, const Selection& selection, uint64_t& changed) {
  std::vector<MessageId> ids;
  Filter filter = selection.filter;
  filter.state = State::held;
  Cursor from;
  do {
    FQ_TRY(unless_interrupted());
    FQ_TRY_SET(const IdPage page, queue.select(filter, from, kChangesPage));
    ids.insert(ids.end(), page.ids.begin(), page.ids.end());
    from = page.next;
  } while (!from.text.empty());
  std::sort(ids.begin(), ids.end(), std::greater<>());
  for (size_t at = 0; at < ids.size(); at += kChangesPage) {
    FQ_TRY(unless_interrupted());
    const size_t count = std::min(kChangesPage, ids.size() - at);
    FQ_TRY_SET(const MutateReply reply, queue.mutate(std::span(ids).subspan(at, count), Action::cancel));
    say_notices(queue);
    changed += reply.changed;
    if (reply.error) return *reply.error;
  }
  return {};
}

/// `changed`: how many were, also where it fails.
Result<void> change_each(Queue& queue, const Selection& selection, Action action, uint64_t& changed) {
  Filter filter = selection.filter;
  const bool held_first = action == Action::cancel && selection.count_max == UINT64_MAX &&
                          std::count(selection.states.begin(), selection.states.end(), State::held) != 0;
  if (held_first) FQ_TRY(cancel_held(queue, selection, changed));
  for (const State state : selection.states) {
    if (held_first && state == State::held) continue;
    filter.state = state;
    Cursor from;
    do {
      const uint64_t left = selection.count_max - changed;
      if (left == 0) return {};
      FQ_TRY(unless_interrupted());
      FQ_TRY_SET(
          MutateReply reply,
          queue.mutate(filter, action, from, static_cast<size_t>(std::min<uint64_t>(left, kChangesPage))));
      say_notices(queue);
      changed += reply.changed;
      if (reply.error) return *reply.error;
      from = std::move(reply.next);
    } while (!from.text.empty());
  }
  return {};
}

}  // namespace

Result<uint64_t> change_by_filter(Queue& queue, const Selection& selection, Action action) {
  uint64_t changed = 0;
  const Result<void> done = change_each(queue, selection, action, changed);
  return done ? Result<uint64_t>(changed) : Result<uint64_t>(told_in_part(changed, done.error()));
}

namespace {

Result<Exit> act_on_matching(Session& session, Queue& queue, const Selection& selection, Action action) {
  FQ_TRY(refuse_pattern(queue, selection.filter.tenant));
  FQ_TRY_SET(const uint64_t changed, change_by_filter(queue, selection, action));
  FQ_TRY(session.out().write(std::to_string(changed) + "\n"));
  FQ_TRY(session.out().flush());
  return changed > 0 ? Exit::done : Exit::nothing;
}

}  // namespace

Result<Exit> act_on(Session& session, Queue& queue, const Selection& selection, Action action) {
  catch_signals();
  std::vector<Attendee> stopped;  // asked before: what is cancelled is held by nobody
  if (action == Action::cancel) stopped = stopped_workers(session, queue);
  Result<Exit> exit = selection.ids.empty() ? act_on_matching(session, queue, selection, action)
                                            : act_on_ids(session, queue, selection.ids, action);
  say_what_runs_on(session, queue, stopped);
  return exit;
}

Result<bool> confirmed(bool yes, const std::string& question) {
  if (yes) return true;
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
    return usage_error("--yes", "is needed without a terminal to ask on; " + question);
  }
  say(question + "; type yes to go on");
  FQ_TRY_SET(Reader input, Reader::standard_input());
  std::string answer;
  while (answer.find('\n') == std::string::npos) {
    FQ_TRY_SET(const bool more, input.read_some(answer));
    if (!more) break;
  }
  return answer == "yes\n";
}

}  // namespace fq::cli
