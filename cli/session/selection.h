// selection - the messages that kick, cancel and queue purge act on, and the acting, page by page.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/words/exit_code.h"
#include "cli/session/session.h"

namespace fq::cli {

struct Selection {
  std::vector<MessageId> ids;  // these, or by filter when empty
  Filter filter;
  std::vector<State> states;  // of the filter, one after the other
  uint64_t count_max = UINT64_MAX;
};

/// The messages for kick and cancel: ids, or by -t, --tag and `more` those that match all of them, or --all.
/// Without --state the states are left open. `tenant`: the long name of -t.
Result<Selection> selection_of(const Arguments& arguments, std::span<const std::string_view> more = {},
                               std::string_view tenant = "tenant");

/// Every state that a message in the queue can have.
std::vector<State> all_states();

/// The operands as ids ("-" reads them).
Result<std::vector<MessageId>> ids_of(const Arguments& arguments);

/// By ids: each refusal is named, Exit::nothing when there was one. By filter: prints how many;
/// Exit::nothing when none.
Result<Exit> act_on(Session& session, Queue& queue, const Selection& selection, Action action);

/// How many were changed, without a word; an Error says so, too.
Result<uint64_t> change_by_filter(Queue& queue, const Selection& selection, Action action);

/// Asks on a terminal; elsewhere `yes` is needed (ErrorKind::usage). False: the person said no.
Result<bool> confirmed(bool yes, const std::string& question);

}  // namespace fq::cli
