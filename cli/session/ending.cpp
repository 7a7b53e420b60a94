#include "cli/session/ending.h"

// System.
#include <unistd.h>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr int kSignalBase = 128;  // as the shell tells a signal

Exit exit_of_last_run(const MessageInfo& message) {
  if (message.state == State::acked) return Exit::done;
  const std::optional<LastError>& error = message.last_error;
  if (error && error->signal) return exit_of_job(kSignalBase + *error->signal);
  // A job may have buried its message and left with 0.
  if (error && error->exit && *error->exit != 0) return exit_of_job(*error->exit);
  return Exit::nothing;
}

Result<void> write_whole(Output& to, std::string text) {
  if (to.is_terminal()) text = escape_terminal(text, {!locale_shows_utf8(), true, true});
  FQ_TRY(to.write(text));
  return to.flush();
}

}  // namespace

Result<EndStatus> await_ends(Queue& queue, EndRequest request) {
  request.interrupt = &catch_signals();
  FQ_TRY_SET(const EndStatus status, queue.await_end(request));
  if (status == EndStatus::interrupted) die_by_caught_signal();
  return status;
}

Result<bool> is_unfinished(Queue& queue, MessageId id) {
  EndRequest request;
  request.ids = {&id, 1};
  request.wait_ms = 0;
  FQ_TRY_SET(const EndStatus status, queue.await_end(request));
  return status != EndStatus::ended;
}

void say_unknown(const Session& session, MessageId id) {
  say("message " + std::to_string(number(id)) + ": not in queue '" + session.queue_name() + "'");
}

Result<Exit> exit_of_end(const Session& session, Queue& queue, MessageId id) {
  FQ_TRY_SET(const std::optional<MessageInfo> message, queue.get(id));
  if (message) return exit_of_last_run(*message);
  say_unknown(session, id);
  return Exit::nothing;
}

Result<bool> write_output(Session& session, Queue& queue, MessageId id) {
  FQ_TRY_SET(std::optional<JobOutput> output, queue.output(id));
  if (!output) return false;
  FQ_TRY(write_whole(session.out(), std::move(output->out)));
  Output errors(STDERR_FILENO);
  FQ_TRY(write_whole(errors, std::move(output->err)));
  return true;
}

}  // namespace fq::cli
