// stats - counts of every queue, or of every tenant of them.

// System.
#include <algorithm>
// fq, this room.
#include "cli/words/command.h"
#include "cli/session/session.h"
#include "cli/session/patience.h"
#include "cli/words/away_words.h"
#include "cli/views/stats/stats_view.h"
#include "cli/terminal/shown.h"
#include "cli/words/values.h"
#include "cli/views/top/watch.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kStatsOptions[] = {
    {"Which", 0, "tenants", Takes::nothing, "", "a row per tenant instead of a row per queue"},
    {"Output", 0, "watch", Takes::attached, "DUR", "again every DUR (default: once; 2s without DUR)"},
};

struct Look {
  std::vector<QueueStats> queues;
  std::vector<Error> problems;  // of those that cannot be used; they hide no other
  Exit exit = Exit::done;       // of the worst of them
  void note(const AwayList& away) {
    if (away.is_empty()) return;
    exit = worse_of(exit, Exit::later);
    problems.push_back({ErrorKind::later, away.text().append(kWithoutThem), 0});
  }
};

Result<Look> look(Session& session, bool tenants) {
  Look all;
  FQ_TRY_SET(const std::vector<std::string> names, session.queues());
  const auto look_at = [&](const std::string& name) -> Result<StatsReply> {
    FQ_TRY_SET(const std::unique_ptr<Queue> queue,
               session.open({session.spool(), name}, Session::Policy::last_good));
    return queue->stats({.tenants = tenants, .tenant = {}});
  };
  for (const std::string& name : names) {
    Result<StatsReply> reply = look_at(name);
    if (reply) {
      all.queues.push_back({name, std::move(reply).value(), session.take_away()});
      all.note(all.queues.back().away);
    } else if (session.is_only_listed(reply.error())) {
      if (const std::string why = session.why_only_listed(name); !why.empty())
        all.problems.push_back({ErrorKind::missing, why, 0});
    } else {
      all.exit = worse_of(all.exit, exit_of(reply.error().kind));
      all.problems.push_back(of_queue(name, reply.error()));
    }
  }
  if (all.queues.empty()) all.exit = worse_of(all.exit, Exit::nothing);
  return all;
}

/// For machines: a row goes out before the next one is made.
Result<void> write_all(Session& session, const std::vector<QueueStats>& all, bool tenants) {
  const auto write = [&](std::string_view piece) { return session.out().write(piece); };
  if (session.format() == Format::json) return write_stats_json(all, tenants, write);
  return write_stats_prometheus(all, tenants, write);
}

std::string texts_of(const std::vector<Error>& problems) {
  std::string all;
  for (const Error& problem : problems) all += spoken(problem.text);
  return all;
}

/// On a screen that is drawn again and again: within the view, at most a third of it.
std::string problem_lines(const std::vector<Error>& problems, const Screen& screen, size_t lines) {
  const size_t shown = problems.size() <= lines / 3 ? problems.size() : std::max<size_t>(lines / 3, 1);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    std::string line = spoken(problems[i].text);
    line.pop_back();
    const size_t more = i + 1 == shown ? problems.size() - shown : 0;
    const std::string end = more == 0 ? "" : " (and " + std::to_string(more) + " more)";
    const size_t room = screen.columns - std::min(screen.columns, end.size());
    text.append(cut_middle(line, room)).append(end).append("\n");
  }
  return text;
}

std::string watched_text(const Look& all, bool tenants, const Screen& screen) {
  if (!screen.moves) return stats_table(all.queues, tenants, screen);
  const size_t lines = lines_watched(screen);
  const std::string below = problem_lines(all.problems, screen, lines);
  const auto used = static_cast<size_t>(std::count(below.begin(), below.end(), '\n'));
  return stats_table(all.queues, tenants, screen, lines - used) + below;
}

/// Without the one that was named there is nothing to see.
Result<Look> look_for_watch(Session& session, bool tenants) {
  FQ_TRY_SET(Look all, look(session, tenants));
  if (session.queue_named() && all.queues.empty() && !all.problems.empty()) return all.problems.front();
  return all;
}

Result<Exit> watch(Session& session, bool tenants, int64_t every_ms) {
  Watch watching(session.out());
  const bool human = session.format() == Format::human;
  std::string said;
  for (bool first = true;; first = false) {
    const Screen screen = human ? screen_of(session.out()) : Screen();
    const auto again = [&] { return look_for_watch(session, tenants); };
    FQ_TRY_SET(const Look all, first ? again() : ask_patiently(again));
    if (all.queues.empty() && all.problems.empty()) return all.exit;
    if (const std::string texts = texts_of(all.problems); !screen.moves && texts != said) {
      for (const Error& problem : all.problems) say(problem.text);
      said = texts;
    }
    if (human) {
      FQ_TRY(watching.show(watched_text(all, tenants, screen), screen));
    } else {
      if (!first && session.format() != Format::json) FQ_TRY(session.out().write("\n"));
      FQ_TRY(write_all(session, all.queues, tenants));
      FQ_TRY(session.out().flush());
    }
    FQ_TRY(watching.pause(every_ms));
  }
}

Result<Exit> run_stats(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const int64_t every_ms, watched_every_ms(arguments));
  if (!arguments.operands().empty()) return usage_error("stats", "takes no operand; name a queue by -q");
  const bool tenants = arguments.has("tenants");
  if (arguments.has("watch")) return watch(session, tenants, every_ms);
  FQ_TRY_SET(const Look all, look(session, tenants));
  if (session.format() == Format::human) {
    FQ_TRY(session.out().write(stats_table(all.queues, tenants, screen_of(session.out()))));
  } else {
    FQ_TRY(write_all(session, all.queues, tenants));
  }
  FQ_TRY(session.out().flush());
  for (const Error& problem : all.problems) say(problem.text);  // beneath what they tell of
  return all.exit;
}

}  // namespace

const Command stats_command = {
    "stats",
    "show counts",
    "[--tenants] [--watch[=DUR]]",
    "Shows the counts of every queue; -q or $FQ_QUEUE names a single one.",
    {kStatsOptions, &kQueuesOption, "human|json|prometheus"},
    "fq stats --json | jq 'select(.dead > 0).queue'",
    "0 shown; 1 no queue",
    run_stats,
};

}  // namespace fq::cli
