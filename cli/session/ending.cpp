#include "cli/session/ending.h"

// fq, this room.
#include "cli/session/patience.h"
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr int kSignalBase = 128;  // as the shell tells a signal
constexpr int kTimedOut = 124;    // as timeout(1) tells it

/// Its last run was ended by a worker.
bool is_timed_out(const LastError& error) {
  return error.reason == "timed out" && (error.exit || error.signal);
}

Exit exit_of_last_run(const MessageInfo& message) {
  if (message.state == State::acked) return Exit::done;
  const std::optional<LastError>& error = message.last_error;
  if (error && is_timed_out(*error)) return exit_of_job(kTimedOut);
  if (error && error->signal) return exit_of_job(kSignalBase + *error->signal);
  // A job may have buried its message and left with 0.
  if (error && error->exit && *error->exit != 0) return exit_of_job(*error->exit);
  return Exit::nothing;
}

/// Where it is now; it has not ended at all.
void say_moved(const MessageInfo& message) {
  if (message.state != State::moved) return;
  say("message " + std::to_string(number(message.id)) + ": " +
      (message.moved_to ? moved_text(*message.moved_to) : "was moved to another queue"));
}

/// "": by itself, by whatever status.
std::string why_ended(const MessageInfo& message) {
  if (message.state == State::cancelled) return "was cancelled";
  if (message.state != State::dead || !message.last_error) return "";
  const LastError& error = *message.last_error;
  if (is_timed_out(error)) return "was ended: its time limit was over";
  if (error.reason == "expired") return "has expired: nobody started it in time";
  const bool exited = error.exit && error.reason == "exit " + std::to_string(*error.exit);
  const bool killed = error.signal && error.reason == "signal " + std::to_string(*error.signal);
  if (exited || killed) return "";
  return error.reason.empty() ? "was buried" : "was buried: " + error.reason;
}

/// Who has waited until its end waits for what became of it, too.
Result<std::optional<MessageInfo>> ended(Queue& queue, MessageId id) {
  return ask_patiently([&] { return queue.get(id); });
}

}  // namespace

Result<EndStatus> await_ends(Queue& queue, EndRequest request) {
  request.interrupt = &catch_signals();
  Patience patience(request.wait_ms, request.interrupt);
  Result<EndStatus> status = patience.ask([&] {
    request.wait_ms = patience.left_ms();
    return queue.await_end(request);
  });
  if (!status || *status == EndStatus::interrupted) die_by_caught_signal();
  return status;
}

Result<bool> is_unfinished(Queue& queue, MessageId id) {
  EndRequest request;
  request.ids = {&id, 1};
  request.wait_ms = 0;
  FQ_TRY_SET(const EndStatus status, queue.await_end(request));
  return status != EndStatus::ended;
}

std::string moved_text(const Elsewhere& elsewhere) {
  return "was moved to queue '" + elsewhere.queue + "', as message " + std::to_string(number(elsewhere.id));
}

void say_unknown(const Session& session, MessageId id) {
  say("message " + std::to_string(number(id)) + ": not in queue '" + session.queue_name() + "'");
}

Result<void> say_gone(const Session& session, Queue& queue, MessageId id) {
  FQ_TRY_SET(const std::optional<MessageInfo> message, queue.get(id));
  if (message && message->state == State::moved) {
    say_moved(*message);
  } else if (message) {
    say("message " + std::to_string(number(id)) + ": has ended already");
  } else {
    say_unknown(session, id);
  }
  return {};
}

Result<Exit> exit_of_end(const Session& session, Queue& queue, MessageId id) {
  FQ_TRY_SET(const std::optional<MessageInfo> message, ended(queue, id));
  if (message) say_moved(*message);
  if (message) return exit_of_last_run(*message);
  say_unknown(session, id);
  return Exit::nothing;
}

Result<Exit> tell_end(const Session& session, Queue& queue, MessageId id) {
  FQ_TRY_SET(const std::optional<MessageInfo> message, ended(queue, id));
  if (!message) return exit_of_end(session, queue, id);
  say_moved(*message);
  const std::string why = why_ended(*message);
  if (!why.empty()) say("message " + std::to_string(number(id)) + ": " + why);
  return exit_of_last_run(*message);
}

}  // namespace fq::cli
