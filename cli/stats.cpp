// stats - counts of every queue, or of every tenant of them.

// fq, this room.
#include "cli/command.h"
#include "cli/session.h"
#include "cli/stats_view.h"
#include "cli/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kOptions[] = {
    {"Which", 0, "tenants", Takes::nothing, "", "a row a tenant instead of a row a queue"},
};

Result<Exit> run_stats(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("stats", "takes no operand; name a queue by -q");
  StatsRequest request;
  request.tenants = arguments.has("tenants");
  std::vector<QueueStats> all;
  const auto look = [&](const std::string& name, Queue& queue) -> Result<Exit> {
    FQ_TRY_SET(StatsReply reply, queue.stats(request));
    all.push_back({name, std::move(reply)});
    return Exit::done;
  };
  FQ_TRY_SET(const Exit exit, session.for_each_queue(look));
  std::string text;
  switch (session.format()) {
    case Format::json:
      text = stats_json(all, request.tenants);
      break;
    case Format::prometheus:
      text = stats_prometheus(all, request.tenants);
      break;
    default:
      text = stats_table(all, request.tenants);
      break;
  }
  FQ_TRY(session.out().write(text));
  FQ_TRY(session.out().flush());
  return exit;
}

}  // namespace

const Command stats_command = {
    "stats",
    "[--tenants]",
    "Shows the counts of every queue; -q or $FQ_QUEUE names a single one.",
    {kOptions, true, "human|json|prometheus"},
    "fq stats --json | jq 'select(.dead > 0).queue'",
    "0 shown; 1 no queue",
    run_stats,
};

}  // namespace fq::cli
