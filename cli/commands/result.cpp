// result - the output of a message's job: so far, with -f as it goes on, or, when the message has ended, the
// kept output.

// fq, this room.
#include "cli/words/command.h"
#include "cli/session/ending.h"
#include "cli/session/following.h"
#include "cli/terminal/signals.h"
#include "cli/words/values.h"
#include "cli/terminal/typed_command.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kResultOptions[] = {
    {"Result", 'f', "follow", Takes::nothing, "", "go on until the message has ended"},
};

/// Of one that has ended, and of which nothing was there to be written.
Result<Exit> exit_of_nothing(const Session& session, Queue& queue, MessageId id) {
  // A job may have written nothing, and that was kept.
  FQ_TRY_SET(const std::optional<JobOutput> kept, queue.output(id));
  if (kept) return Exit::done;
  FQ_TRY_SET(const std::optional<MessageInfo> message, queue.get(id));
  const bool moved = message && message->moved_to;
  const bool cancelled = message && message->state == State::cancelled;  // whatever --keep said
  const bool was_asked_for = message && message->keep_ms.value_or(0) > 0;
  const std::string why =
      moved       ? moved_text(*message->moved_to)
      : cancelled ? "was cancelled; no output is kept of what was cut off"
      : was_asked_for
          ? "no output is kept; there was none, it was too long, or it has made room for later ones"
      : message ? "no output is kept; --keep of fq push says for how long one is"
                : "not in queue '" + session.queue_name() + "'";
  return Error{ErrorKind::missing, "message " + std::to_string(number(id)) + ": " + why, 0};
}

Result<Exit> run_result(const Arguments& arguments, Session& session) {
  if (arguments.operands().size() != 1)
    return usage_error("result", "takes one message id; write fq result 17");
  FQ_TRY_SET(const MessageId id, to_id("ID", arguments.operands()[0]));
  const bool follows = arguments.has("follow");
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(const std::optional<MessageInfo> message, queue->get(id));
  if (!message) return exit_of_nothing(session, *queue, id);
  Interrupt& interrupt = catch_signals();
  FQ_TRY_SET(const std::unique_ptr<OutputFollower> follower, queue->follow(id, std::nullopt));
  Following following(session, *follower, id);
  FQ_TRY_SET(const Following::End end,
             follows ? following.run(std::nullopt, interrupt) : following.run_once(interrupt));
  if (end == Following::End::interrupted) die_by_caught_signal();
  if (follows) return tell_end(session, *queue, id);
  if (following.wrote_something() || following.is_missing_something()) return Exit::done;
  if (end == Following::End::ended) return exit_of_nothing(session, *queue, id);
  if (message->state == State::leased) return Exit::done;
  // An output is kept when its message has ended: of a run that failed before, what it wrote is gone.
  const std::string_view why = message->deliveries > 0
                                   ? "waits for its next run, and nothing is kept of the last one"
                                   : "has not ended";
  return Error{ErrorKind::later,
               "message " + std::to_string(number(id)) + ": " + std::string(why) + "; follow it with " +
                   typed_command("fq result -f " + std::to_string(number(id)), session.queue_name()),
               0};
}

}  // namespace

const Command result_command = {
    "result",
    "print what a job wrote",
    "[-f] ID",
    "Prints the output of a message's job: its stdout and stderr on ours.",
    {kResultOptions, &kQueueOption, ""},
    "fq result -f 17",
    "0 printed (-f: as fq wait); 1 none kept, or unknown; 75 not ended,\n"
    "and no job of it runs",
    run_result,
};

}  // namespace fq::cli
