// top - queues and their tenants, live, with keys to pause, resume and kick a tenant.

// System.
#include <unistd.h>

#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/session/selection.h"
#include "cli/session/session.h"
#include "cli/terminal/terminal.h"
#include "cli/views/top_view.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr int64_t kAgainMs = 1'000;
constexpr int64_t kNoticeMs = 5'000;

class Top {
 public:
  explicit Top(Session& session) : session_(session) {}

  Result<Exit> run() {
    FQ_TRY(terminal_.begin());
    FQ_TRY(look());
    for (;;) {
      FQ_TRY(terminal_.draw(view_.frame(screen_of(session_.out()))));
      switch (terminal_.wait(kAgainMs)) {
        case Terminal::Woken::ended:
          return Exit::done;  // by the signal, if it was one: main sees to that
        case Terminal::Woken::keys:
          for (const TopKey key : top_keys(terminal_.typed())) {
            if (key == TopKey::quit) return Exit::done;
            take(key);
          }
          break;
        case Terminal::Woken::time:
          FQ_TRY(look());
          break;
        case Terminal::Woken::resized:
          break;
      }
    }
  }

 private:
  /// Of every queue, or the one that was named. What cannot be used is said below and hides no other.
  Result<void> look() {
    std::vector<QueueStats> queues, tenants;
    FQ_TRY_SET(const std::vector<std::string> names, session_.queues());
    for (const std::string& name : names) {
      Result<void> looked = look_at(name, queues, tenants);
      if (!looked) notice(looked.error().text);
    }
    if (const std::string said = terminal_.last_said(); !said.empty()) notice(said);
    view_.show(std::move(queues), std::move(tenants));
    if (notice_ms_ > 0 && (notice_ms_ -= kAgainMs) <= 0) notice("");
    return {};
  }

  Result<std::unique_ptr<Queue>> open(const std::string& name) {
    return session_.open({session_.spool(), name}, Session::Policy::last_good, OpenOptions{});
  }

  Result<void> look_at(const std::string& name, std::vector<QueueStats>& queues,
                       std::vector<QueueStats>& tenants) {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue, open(name));
    FQ_TRY_SET(StatsReply of_queue, queue->stats({}));
    FQ_TRY_SET(StatsReply of_tenants, queue->stats({.tenants = true, .tenant = {}}));
    queues.push_back({name, std::move(of_queue)});
    tenants.push_back({name, std::move(of_tenants)});
    return {};
  }

  /// A tenant in a sentence, with its queue where there are others.
  std::string named(const std::string& tenant, const std::string& queue) const {
    return in_quotes(tenant) + (view_.several_queues() ? " of queue " + in_quotes(queue) : "");
  }

  /// Instead of what stands there: a question that is gone takes no answer.
  void notice(std::string text) {
    kick_queue_.clear();
    view_.say(std::move(text));
    notice_ms_ = kNoticeMs;
  }

  void take(TopKey key) {
    if (view_.helps()) return view_.take(key);  // nobody sees there what a key would change
    const bool asked = !kick_queue_.empty();
    if (asked && key == TopKey::yes) {
      act(kick());
    } else if (asked) {
      notice("");
    }
    const TopView::Line* chosen = view_.chosen();
    if (chosen == nullptr) return view_.take(key);
    const std::string& tenant = chosen->row.tenant;
    const std::string name = named(tenant, chosen->queue);
    if (key == TopKey::pause) {
      act(set(*chosen, {{{PolicyKey::paused, 1, 0, {}}}, {}}, name + " is paused"));
    } else if (key == TopKey::resume) {
      act(resume(*chosen, name + " is no longer paused"));
    } else if (key == TopKey::kick && view_.dead_below(*chosen) == 0) {
      notice(name + " has no dead messages, nor has what is below it");
    } else if (key == TopKey::kick) {
      // What to type stands first: a narrow screen cuts the rest.
      notice("y for yes: kick the dead messages of " + name + " and all below it?");
      // Who is asked about is who is kicked, wherever the choice has gone by then.
      kick_queue_ = chosen->queue;
      kick_tenant_ = tenant;
    } else {
      view_.take(key);
    }
  }

  void act(const Result<std::string>& done) {
    notice(done ? *done : done.error().text);
    const Result<void> looked = look();
    if (!looked) notice(looked.error().text);
  }

  Result<std::string> set(const TopView::Line& line, const PolicyPatch& patch, std::string told) {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue, open(line.queue));
    FQ_TRY(queue->policy_set(line.row.tenant, patch));
    return told;
  }

  /// Also what still keeps it from being served, if something does.
  Result<std::string> resume(const TopView::Line& line, std::string told) {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue, open(line.queue));
    const std::string& tenant = line.row.tenant;
    FQ_TRY(queue->policy_set(tenant, {{}, {PolicyKey::paused}}));
    ExplainRequest request;
    request.tenant = tenant;
    request.next = 0;
    const Result<ExplainReply> reply = queue->explain(request);  // it is resumed, whether this fails or not
    if (!reply || !reply->subject || reply->subject->reasons.empty()) return told;
    const std::vector<Reason>& reasons = reply->subject->reasons;
    const Reason& reason = *std::min_element(
        reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) { return a.kind < b.kind; });
    told.append("; still held by ").append(holder_of(reason, tenant)).append(": ");
    return told.append(name_of(reason.kind));
  }

  static std::string holder_of(const Reason& reason, const std::string& tenant) {
    using enum Reason::Kind;
    if (reason.kind == pool_concurrency || reason.kind == pool_rate) return "pool " + in_quotes(reason.node);
    if (reason.node.empty()) return "the queue";
    return reason.node == tenant ? "a limit of its own" : in_quotes(reason.node);
  }

  Result<std::string> kick() {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue, open(kick_queue_));
    Selection selection;
    selection.filter.tenant = kick_tenant_;
    selection.states = {State::dead};
    FQ_TRY_SET(const uint64_t count, change_by_filter(*queue, selection, Action::kick));
    return std::to_string(count) + " of " + named(kick_tenant_, kick_queue_) + " kicked";
  }

  Session& session_;
  Terminal terminal_;
  TopView view_;
  int64_t notice_ms_ = 0;
  std::string kick_queue_, kick_tenant_;  // that a y would kick; no queue: none
};

Result<Exit> run_top(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("top", "takes no operand; name a queue by -q");
  if (::isatty(STDIN_FILENO) == 0 || !session.out().is_terminal())
    return usage_error("top", "needs a terminal; use fq stats --watch");
  if (!screen_of(session.out()).moves)
    return usage_error("TERM", "is no terminal whose cursor can be moved; use fq stats --watch");
  FQ_TRY_SET(const std::vector<std::string> names, session.queues());
  if (names.empty()) return Exit::nothing;
  if (session.queue_named()) {
    // Missing or damaged: said before the screen is taken.
    FQ_TRY(session.open({session.spool(), names[0]}, Session::Policy::last_good, OpenOptions{}));
  }
  return Top(session).run();
}

}  // namespace

const Command top_command = {
    "top",
    "",
    "Shows every queue and its tenants, live; -q or $FQ_QUEUE names a single one.\n"
    "Keys: up, down, s to sort, p pause, r resume, K kick the dead, ? help, q quit.",
    {{}, &kQueuesOption, ""},
    "fq top -q mail",
    "0 quit; 1 no queue",
    run_top,
};

}  // namespace fq::cli
