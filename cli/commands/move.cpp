// move - messages go to another queue of the spool, with all that they have.

// System.
#include <algorithm>
#include <set>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/session/ending.h"
#include "cli/session/filter.h"
#include "cli/session/selection.h"
#include "cli/terminal/signals.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

// -t is the filter, as everywhere; the tenant that they get has the long name to itself.
constexpr std::string_view kOf = "of";

constexpr OptionSpec kMoveOptions[] = {
    {"Where", 0, "to", Takes::value, "QUEUE", "the other queue; it has to exist"},
    {"Where", 0, "tenant", Takes::value, "TENANT", "their tenant there (default: as here)"},
    {"Which", 't', kOf, Takes::value, "TENANT", "those of this tenant and below"},
    {"Which", 0, "tag", Takes::value, "K=V", "those with this tag"},
    {"Which", 0, "all", Takes::nothing, "", "those of every tenant; asks first"},
    {"Which", 0, "state", Takes::value, "STATE",
     "only those: ready, delayed, held, dead or all\n(default: all but dead)"},
    {"Which", 'n', "count", Takes::value, "N", "at most N (default: unlimited)"},
    {"General", 0, "yes", Takes::nothing, "", "do not ask; --all needs it without a terminal"},
};

constexpr size_t kMovePage = 256;  // moves in one turn, and ids looked for: arbitrary

struct Moving {
  Selection selection;
  MoveRequest request;
};

Result<Moving> moving_of(const Arguments& arguments, const Session& session) {
  Moving moving;
  const auto to = arguments.value("to");
  if (!to) return usage_error("move", "needs the other queue; write --to QUEUE");
  moving.request.to = *to;
  if (moving.request.to == session.queue_name())
    return usage_error("--to", in_quotes(*to) + " is the queue that they are in; name another");
  if (const auto tenant = arguments.value("tenant")) {
    FQ_TRY_SET(moving.request.tenant, to_tenant("--tenant", *tenant));
  }
  FQ_TRY_SET(moving.selection, selection_of(arguments, {}, kOf));
  moving.selection.states = {State::ready, State::delayed, State::held};
  const auto typed = arguments.value("state");
  if (!typed) return moving;
  FQ_TRY_SET(const std::optional<State> state, to_state("--state", *typed));
  if (state == State::leased) return usage_error("--state", "running messages cannot be moved");
  if (state) moving.selection.states = {*state};
  if (!state) moving.selection.states.push_back(State::dead);
  return moving;
}

/// By id, so that what was pushed first is first there too.
Result<std::vector<MessageId>> select_all(Queue& queue, const Selection& selection) {
  std::vector<MessageId> ids;
  Filter filter = selection.filter;
  for (const State state : selection.states) {
    filter.state = state;
    Cursor from;
    do {
      FQ_TRY_SET(IdPage page, queue.select(filter, from, kMovePage));
      ids.insert(ids.end(), page.ids.begin(), page.ids.end());
      from = std::move(page.next);
    } while (goes_on(from));
  }
  // One that changed its state meanwhile was found twice.
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ids.resize(static_cast<size_t>(std::min<uint64_t>(ids.size(), selection.count_max)));
  return ids;
}

std::string line_of(const Session& session, MessageId id, const MoveRequest& request, MessageId id_there) {
  if (session.format() == Format::human)
    return std::to_string(number(id)) + " " + std::to_string(number(id_there)) + "\n";
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("queue").text(session.queue_name()).key("id").number(number(id));
  json.key("to_queue").text(request.to).key("to_id").number(number(id_there)).end_object();
  return line.append("\n");
}

/// Tells what became of each; false: some stay.
Result<bool> tell(Session& session, Queue& queue, std::span<const MessageId> ids, const MoveRequest& request,
                  const MoveReply& reply) {
  bool all = true;
  for (size_t i = 0; i < reply.items.size(); ++i) {
    const MoveResult& result = reply.items[i];
    const std::string object = "message " + std::to_string(number(ids[i])) + ": ";
    if (result.what == MoveResult::What::moved) {
      FQ_TRY(session.out().write(line_of(session, ids[i], request, result.id_there)));
      continue;
    }
    all = false;
    if (result.what == MoveResult::What::gone) FQ_TRY(say_gone(session, queue, ids[i]));
    if (!result.why.empty()) say(object + result.why + "; it stays");
  }
  FQ_TRY(session.out().flush());
  return all;
}

Result<Exit> run_move(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const Moving moving, moving_of(arguments, session));
  if (arguments.has("all")) {
    const std::string what = "move --all takes what waits out of queue '" + session.queue_name() +
                             "' and into '" + moving.request.to + "'";
    FQ_TRY_SET(const bool go_on, confirmed(arguments.has("yes"), what));
    if (!go_on) return Exit::nothing;
  }
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  std::vector<MessageId> ids = moving.selection.ids;
  const bool by_id = !arguments.operands().empty();
  std::set<MessageId> seen;
  std::erase_if(ids, [&](MessageId id) { return !seen.insert(id).second; });
  if (!by_id) {
    FQ_TRY(refuse_pattern(*queue, moving.selection.filter.tenant));
    FQ_TRY_SET(ids, select_all(*queue, moving.selection));
  }
  if (ids.empty() && by_id) return Exit::done;  // "-" without a line
  // Also where nothing is to be moved: the queue that was named may not be there.
  if (ids.empty()) FQ_TRY(queue->move({}, moving.request));
  bool all = !ids.empty();
  for (size_t at = 0; at < ids.size(); at += kMovePage) {
    const auto page = std::span(ids).subspan(at, std::min(kMovePage, ids.size() - at));
    FQ_TRY_SET(const MoveReply reply, queue->move(page, moving.request));
    say_notices(*queue);
    FQ_TRY_SET(const bool moved, tell(session, *queue, page, moving.request, reply));
    if (reply.error) return *reply.error;
    all = all && moved;
    const LetSignalsThrough now;
  }
  return all ? Exit::done : Exit::nothing;
}

}  // namespace

const Command move_command = {
    "move",
    "move messages to another queue",
    "[ID... | - | -t TENANT | --tag K=V | --all] --to QUEUE",
    "Moves waiting or dead messages to another queue; prints old and new ids.",
    {kMoveOptions, &kQueueOption, "human|json"},
    "fq queue create slow && fq move -t acme --to slow",
    "0 all moved; 1 none, or some stay (each is named);\n"
    "75 the other queue is full or draining; the rest stays",
    run_move,
};

}  // namespace fq::cli
