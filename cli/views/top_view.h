// top_view - what fq top shows and which tenant is chosen, apart from the terminal and the queues.
//
// A tenant is chosen by its name: whatever its place in the next view is, what is done is done to it.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "cli/terminal/screen.h"
#include "cli/views/stats_view.h"

namespace fq::cli {

enum class TopOrder { waiting, ready, leased, dead, served, name };

/// What a key is for; `none` for those that mean nothing.
enum class TopKey {
  none,
  up,
  down,
  page_up,
  page_down,
  first,
  last,
  order,
  pause,
  resume,
  kick,
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
  /// Those that move, sort or show help; where help stands, any leads back.
  void take(TopKey key);
  bool helps() const { return help_; }
  const Line* chosen() const { return lines_.empty() ? nullptr : &line_at(chosen_); }
  /// Of this tenant and all below it.
  uint64_t dead_below(const Line& line) const;
  /// Whether a tenant has to be told with its queue.
  bool several_queues() const { return several_queues_; }
  void say(std::string text) { notice_ = std::move(text); }

  /// A picture of the whole screen, to be drawn over the last one.
  std::string frame(const Screen& screen);

 private:
  const Line& line_at(size_t place) const { return lines_[sorted_[place]]; }
  void sort();
  void move_to(size_t line);
  std::string tenants_text(const Screen& screen, size_t rows);

  std::vector<QueueStats> queues_, tenants_;
  std::vector<Line> lines_;       // of all tenants, as they came
  std::vector<uint32_t> sorted_;  // rows are large and stay where they are
  bool several_queues_ = false;
  size_t chosen_ = 0;
  size_t first_ = 0;  // line that is shown first
  size_t page_ = 1;
  TopOrder order_ = TopOrder::waiting;
  bool help_ = false;
  std::string notice_;
};

}  // namespace fq::cli
