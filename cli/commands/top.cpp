// top - queues with their tenants and jobs, live, with keys to pause, resume and kick a tenant and to follow,
// edit and cancel a job.

// System.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <utility>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/session/selection.h"
#include "cli/session/session.h"
#include "cli/terminal/foreground.h"
#include "cli/terminal/terminal.h"
#include "cli/views/top/top_view.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr int64_t kAgainMs = 1'000;
constexpr int64_t kNoticeMs = 5'000;
constexpr size_t kJobsShown = 200;  // of a queue and state: nobody pages further through a live view

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
          FQ_TRY(look_again());
          break;
        case Terminal::Woken::resized:
          break;
      }
    }
  }

 private:
  /// Of every queue, or the one that was named. What cannot be used is said below and hides no other.
  Result<void> look() {
    Seen seen;
    FQ_TRY_SET(const std::vector<std::string> names, session_.queues());
    for (const std::string& name : names) {
      Result<void> looked = look_at(name, seen);
      if (looked) continue;
      const bool is_listed = session_.is_only_listed(looked.error());
      const std::string why = is_listed ? session_.why_only_listed(name) : looked.error().text;
      if (!why.empty()) notice(why);
    }
    if (const std::string said = terminal_.last_said(); !said.empty()) notice(said);
    view_.show(std::move(seen.queues), std::move(seen.tenants));
    view_.jobs().show(std::move(seen.jobs), system_clock().wall_ms());
    if (notice_ms_ > 0 && (notice_ms_ -= kAgainMs) <= 0) notice("");
    return {};
  }

  /// Who looks on ends it when that is enough: where the server is away, what was seen last stays.
  Result<void> look_again() {
    Result<void> looked = look();
    if (looked || !looked.error().passes) return looked;
    notice(looked.error().text);
    return {};
  }

  Result<std::unique_ptr<Queue>> open(const std::string& name) {
    return session_.open({session_.spool(), name}, Session::Policy::last_good);
  }

  struct Seen {
    std::vector<QueueStats> queues, tenants;
    std::vector<TopJobs::Job> jobs;
  };

  Result<void> look_at(const std::string& name, Seen& seen) {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue, open(name));
    FQ_TRY_SET(StatsReply of_queue, queue->stats({}));
    FQ_TRY_SET(StatsReply of_tenants, queue->stats({.tenants = true, .tenant = {}}));
    seen.queues.push_back({name, std::move(of_queue)});
    seen.tenants.push_back({name, std::move(of_tenants)});
    if (!view_.shows_jobs()) return {};
    for (const State state : {State::leased, State::ready}) {
      FQ_TRY_SET(MessagePage page, queue->peek({.tenant = {}, .state = state, .tag = {}}, {}, kJobsShown));
      for (MessageInfo& message : page.messages) seen.jobs.push_back({name, std::move(message)});
    }
    return {};
  }

  /// A tenant in a sentence, with its queue where there are others.
  std::string named(const std::string& tenant, const std::string& queue) const {
    return in_quotes(tenant) + (view_.several_queues() ? " of queue " + in_quotes(queue) : "");
  }

  /// Instead of what stands there: a question that is gone takes no answer.
  void notice(std::string text) {
    asked_ = nullptr;
    view_.say(std::move(text));
    notice_ms_ = kNoticeMs;
  }

  void take(TopKey key) {
    if (view_.helps()) return view_.take(key);  // nobody sees there what a key would change
    const auto asked = std::exchange(asked_, nullptr);
    if (asked) {
      if (key == TopKey::yes) act(asked());
      if (key != TopKey::yes) notice("");
    }
    if (key == TopKey::jobs) {
      view_.take(key);
      return act(std::string());
    }
    if (view_.shows_jobs()) return take_for_job(key);
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
      ask("kick the dead messages of " + name + " and all below it",
          [this, queue = chosen->queue, tenant] { return kick(queue, tenant); });
    } else {
      view_.take(key);
    }
  }

  void take_for_job(TopKey key) {
    const TopJobs::Job* const job = view_.jobs().chosen();
    if (job == nullptr) return view_.take(key);
    if (key == TopKey::follow || key == TopKey::edit) return hand_over(key, *job);
    if (key != TopKey::cancel) return view_.take(key);
    const MessageId id = job->message.id;
    const std::string name = "message " + std::to_string(number(id)) + " of queue " + in_quotes(job->queue);
    ask("cancel " + name, [this, queue = job->queue, id, name] { return cancel(queue, id, name); });
  }

  /// The terminal is another fq's until that ends. What it wrote stands below the shell's lines, and is
  /// looked at until a key, unless Ctrl-C said that it was enough, or there was nothing to say.
  void hand_over(TopKey key, const TopJobs::Job& job) {
    const bool follows = key == TopKey::follow;
    const std::string id = std::to_string(number(job.message.id));
    const std::string name = "message " + id + " of queue " + in_quotes(job.queue);
    std::vector<std::string> words = {"fq", "--spool", session_.spool(), "-q", job.queue};
    words.emplace_back(follows ? "result" : "edit");
    if (follows) words.emplace_back("-f");
    words.push_back(id);
    notice("");
    terminal_.lend();
    if (follows) say("follows " + name + "; Ctrl-C leads back");
    const Result<int> status = run_in_foreground("/proc/self/exe", words, "fq", Endings::handed_on);
    const bool enough = status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGINT;
    const bool silent = !follows && status && *status == 0;
    if (!enough && !silent) terminal_.hold("any key leads back to fq top");
    terminal_.take_back();
    if (!status) return act(status.error());
    act(std::string());
  }

  /// What is asked about is what it is done to, wherever the choice has gone by then.
  void ask(const std::string& question, std::function<Result<std::string>()> yes) {
    // What to type stands first: a narrow screen cuts the rest.
    notice("y for yes: " + question + "?");
    asked_ = std::move(yes);
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

  Result<std::string> kick(const std::string& name, const std::string& tenant) {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue, open(name));
    Selection selection;
    selection.filter.tenant = tenant;
    selection.states = {State::dead};
    FQ_TRY_SET(const uint64_t count, change_by_filter(*queue, selection, Action::kick));
    return std::to_string(count) + " of " + named(tenant, name) + " kicked";
  }

  Result<std::string> cancel(const std::string& queue_name, MessageId id, const std::string& name) {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue, open(queue_name));
    FQ_TRY_SET(const MutateReply reply, queue->mutate({&id, 1}, Action::cancel));
    return name + (reply.changed == 1 ? " is cancelled" : " has ended already");
  }

  Session& session_;
  Terminal terminal_;
  TopView view_;
  int64_t notice_ms_ = 0;
  std::function<Result<std::string>()> asked_;  // what a y would do
};

Result<Exit> run_top(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("top", "takes no operand; name a queue by -q");
  if (::isatty(STDIN_FILENO) == 0 || !session.out().is_terminal())
    return usage_error("top", "needs a terminal; use fq stats --watch");
  if (!screen_of(session.out()).moves)
    return usage_error("TERM", "is not a terminal whose cursor can be moved; use fq stats --watch");
  FQ_TRY_SET(const std::vector<std::string> names, session.queues());
  if (names.empty()) return Exit::nothing;
  if (session.queue_named()) {
    // Missing or damaged: said before the screen is taken.
    FQ_TRY(session.open({session.spool(), names[0]}, Session::Policy::last_good));
  }
  return Top(session).run();
}

}  // namespace

const Command top_command = {
    "top",
    "show queues and tenants live",
    "",
    "Shows every queue, its tenants and jobs, live; -q or $FQ_QUEUE names one.\n"
    "Keys: up, down, s sort, p pause, r resume, K kick, ? help, q quit; Tab: jobs,\n"
    "f follow, e edit, c cancel.",
    {{}, &kQueuesOption, ""},
    "fq top -q mail",
    "0 quit; 1 no queue",
    run_top,
};

}  // namespace fq::cli
