#include "cli/views/top/top_jobs.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/duration.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"
#include "cli/views/message_view.h"

namespace fq::cli {

namespace {

constexpr size_t kTopCommandColumns = 60;

bool runs(const TopJobs::Job& job) { return job.message.state == State::leased; }

/// To the second: the view is a new one each second.
std::string elapsed_text(const MessageInfo& message, int64_t now_wall_ms) {
  if (message.state != State::leased || !message.started_at_wall_ms) return "-";
  const int64_t ms = std::max<int64_t>(0, now_wall_ms - *message.started_at_wall_ms);
  return format_duration(ms - ms % 1'000);
}

}  // namespace

void TopJobs::show(std::vector<Job> jobs, int64_t now_wall_ms) {
  const std::string queue = chosen() != nullptr ? chosen()->queue : "";
  const MessageId id = chosen() != nullptr ? chosen()->message.id : MessageId{0};
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    if (runs(a) != runs(b)) return runs(a);
    return runs(a) && a.message.started_at_wall_ms < b.message.started_at_wall_ms;
  });
  jobs_ = std::move(jobs);
  now_wall_ms_ = now_wall_ms;
  const auto same = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& each) {
    return each.queue == queue && each.message.id == id;
  });
  const size_t place = same == jobs_.end() ? choice_.line() : static_cast<size_t>(same - jobs_.begin());
  choice_.move_to(place, jobs_.size());
}

std::string TopJobs::text(const Screen& screen, size_t rows) {
  if (jobs_.empty()) return "nothing runs and nothing is ready\n";
  choice_.fit(rows, jobs_.size());
  Table table({0, 2, 5, 6});
  table.right({1, 3, 4});
  table.spare({4, 2});
  table.shorten({0, 5}, kNameLeast);
  table.crop({6});
  table.row({"QUEUE", "ID", "STATE", "ELAPSED", "WORKER", "TENANT", "COMMAND"});
  table.paint_row(kHeading);
  for (size_t i = choice_.first(); i < choice_.end(); ++i) {
    const MessageInfo& message = jobs_[i].message;
    const std::string worker = message.holder_pid ? std::to_string(*message.holder_pid) : "-";
    table.row({shown(jobs_[i].queue), std::to_string(number(message.id)),
               runs(jobs_[i]) ? "running" : std::string(name_of(message.state)),
               elapsed_text(message, now_wall_ms_), worker, shown(message.tenant),
               content_text(message, kTopCommandColumns)});
    if (i == choice_.line()) table.paint_row(kChosen);
  }
  return choice_.marked(table.lines(Choice::screen_beside(screen)), screen);
}

}  // namespace fq::cli
