// top_view - the screen of fq top, and the tenant or job that is chosen, apart from the terminal and the
// queues.
//
// Below the queues stand their tenants, or the jobs that run and the messages that wait. A tenant is chosen
// by its name: a key acts on the chosen one, whatever its place in the next view is.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "cli/terminal/screen.h"
#include "cli/views/stats/stats_view.h"
#include "cli/views/top/top_jobs.h"

namespace fq::cli {

enum class TopOrder { waiting, ready, leased, dead, served, name };

/// The meaning of a key; `none` for those that mean nothing.
enum class TopKey {
  none,
  up,
  down,
  page_up,
  page_down,
  first,
  last,
  order,
  jobs,
  pause,
  resume,
  kick,
  cancel,
  follow,
  edit,
  yes,
  help,
  quit
};
/// The keys of what was typed at once, escape sequences included.
std::vector<TopKey> top_keys(std::string_view typed);

class TopView {
 public:
  /// A tenant; good until the next show().
  struct Line {
    const std::string& queue;
    const StatsRow& row;
  };

  TopView() = default;
  TopView(TopView&&) = default;
  TopView(const TopView&) = delete;

  /// Of every queue its row, and of all queues the tenants.
  void show(std::vector<QueueStats> queues, std::vector<QueueStats> tenants);
  /// Those that move, sort or show help; where help stands, any leads to the rest of it, and back.
  void take(TopKey key);
  bool helps() const { return help_; }
  const Line* chosen() const { return lines_.empty() ? nullptr : &line_at(choice_.line()); }
  /// Of this tenant and all below it.
  uint64_t dead_below(const Line& line) const;
  /// Whether a tenant has to be told with its queue.
  bool several_queues() const { return several_queues_; }
  void say(std::string text) { notice_ = std::move(text); }
  /// Instead of the tenants.
  bool shows_jobs() const { return shows_jobs_; }
  TopJobs& jobs() { return jobs_; }

  /// A picture of the whole screen, to be drawn over the last one.
  std::string frame(const Screen& screen);

 private:
  const Line& line_at(size_t place) const { return lines_[sorted_[place]]; }
  void sort();
  void move(TopKey key);
  std::string tenants_text(const Screen& screen, size_t rows);
  std::string keys_text() const;
  std::string help_text(const Screen& screen, size_t rows);

  std::vector<QueueStats> queues_, tenants_;
  std::vector<Line> lines_;       // of all tenants, as they came
  std::vector<uint32_t> sorted_;  // rows are large and stay where they are
  bool several_queues_ = false;
  Choice choice_;
  TopJobs jobs_;
  bool shows_jobs_ = false;
  TopOrder order_ = TopOrder::waiting;
  bool help_ = false;
  size_t help_from_ = 0;  // its first line that is shown
  size_t help_rest_ = 0;  // the first one that had no room behind it; 0: there was none
  std::string notice_;
};

}  // namespace fq::cli
