// stats - counts of every queue, or of every tenant of them.

// fq, this room.
#include "cli/command.h"
#include "cli/session.h"
#include "cli/stats_view.h"
#include "cli/values.h"
#include "cli/watch.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kOptions[] = {
    {"Which", 0, "tenants", Takes::nothing, "", "a row a tenant instead of a row a queue"},
    {"Output", 0, "watch", Takes::attached, "DUR", "again every DUR (default: once; 2s without DUR)"},
};
constexpr int64_t kWatchMs = 2'000;

Result<std::vector<QueueStats>> look(Session& session, bool tenants, Exit& exit) {
  StatsRequest request;
  request.tenants = tenants;
  std::vector<QueueStats> all;
  const auto look = [&](const std::string& name, Queue& queue) -> Result<Exit> {
    FQ_TRY_SET(StatsReply reply, queue.stats(request));
    all.push_back({name, std::move(reply)});
    return Exit::done;
  };
  FQ_TRY_SET(exit, session.for_each_queue(look));
  return all;
}

/// For machines: a row goes out before the next one is made.
Result<void> write_all(Session& session, const std::vector<QueueStats>& all, bool tenants) {
  const auto write = [&](std::string_view piece) { return session.out().write(piece); };
  if (session.format() == Format::json) return write_stats_json(all, tenants, write);
  return write_stats_prometheus(all, tenants, write);
}

Result<Exit> watch(Session& session, bool tenants, int64_t every_ms) {
  Watch watching(session.out());
  const bool human = session.format() == Format::human;
  for (bool first = true;; first = false) {
    Exit exit = Exit::done;
    const Screen screen = human ? screen_of(session.out()) : Screen();
    FQ_TRY_SET(const std::vector<QueueStats> all, look(session, tenants, exit));
    if (exit != Exit::done) return exit;
    if (human) {
      FQ_TRY(watching.show(stats_table(all, tenants, screen), screen));
    } else {
      if (!first && session.format() != Format::json) FQ_TRY(session.out().write("\n"));
      FQ_TRY(write_all(session, all, tenants));
      FQ_TRY(session.out().flush());
    }
    FQ_TRY(watching.pause(every_ms));
  }
}

Result<Exit> run_stats(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("stats", "takes no operand; name a queue by -q");
  const bool tenants = arguments.has("tenants");
  if (arguments.has("watch")) {
    int64_t every_ms = kWatchMs;
    if (const auto typed = arguments.value("watch")) {
      FQ_TRY_SET(every_ms, to_positive_duration("--watch", *typed));
    }
    return watch(session, tenants, every_ms);
  }
  Exit exit = Exit::done;
  FQ_TRY_SET(const std::vector<QueueStats> all, look(session, tenants, exit));
  if (session.format() == Format::human) {
    FQ_TRY(session.out().write(stats_table(all, tenants, screen_of(session.out()))));
  } else {
    FQ_TRY(write_all(session, all, tenants));
  }
  FQ_TRY(session.out().flush());
  return exit;
}

}  // namespace

const Command stats_command = {
    "stats",
    "[--tenants] [--watch[=DUR]]",
    "Shows the counts of every queue; -q or $FQ_QUEUE names a single one.",
    {kOptions, &kQueuesOption, "human|json|prometheus"},
    "fq stats --json | jq 'select(.dead > 0).queue'",
    "0 shown; 1 no queue",
    run_stats,
};

}  // namespace fq::cli
