// result - what the job of a finished message wrote, as far as it was kept.

// fq, this room.
#include "cli/words/command.h"
#include "cli/session/ending.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

Result<Exit> run_result(const Arguments& arguments, Session& session) {
  if (arguments.operands().size() != 1)
    return usage_error("result", "takes one message id; write fq result 17");
  FQ_TRY_SET(const MessageId id, to_id("ID", arguments.operands()[0]));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  const std::string object = "message " + std::to_string(number(id)) + ": ";
  FQ_TRY_SET(const bool unfinished, is_unfinished(*queue, id));
  if (unfinished) return Error{ErrorKind::later, object + "has not ended; wait for it with fq wait", 0};
  FQ_TRY_SET(const bool written, write_output(session, *queue, id));
  if (written) return Exit::done;
  FQ_TRY_SET(const std::optional<MessageInfo> message, queue->get(id));
  const std::string why = message ? "no output was kept; --keep of fq push asks for it"
                                  : "not in queue '" + session.queue_name() + "'";
  return Error{ErrorKind::missing, object + why, 0};
}

}  // namespace

const Command result_command = {
    "result",
    "ID",
    "Writes the kept output of a finished message: its stdout and stderr on ours.",
    {{}, &kQueueOption, ""},
    "fq wait 17; fq result 17",
    "0 written; 1 none kept, or not known; 75 it has not ended",
    run_result,
};

}  // namespace fq::cli
