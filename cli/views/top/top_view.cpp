#include "cli/views/top/top_view.h"

// System.
#include <algorithm>
#include <numeric>
#include <utility>
// fq, below us.
#include "core/base/text/counted.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/views/stats/tenant_table.h"
#include "cli/views/top/watch.h"

namespace fq::cli {

namespace {

constexpr std::string_view kOrderNames[] = {"waiting", "ready", "leased", "dead", "served", "name"};
constexpr size_t kOrders = std::size(kOrderNames);

constexpr std::string_view kHelp =
    "fq top: every queue, and the tenants of all of them; anew each second.\n"
    "\n"
    "  Tab                 instead of tenants what runs and waits, and back\n"
    "  up, down, j, k      choose another one        PgUp, PgDn, Home, End\n"
    "  s                   sort by: who waits longest, ready, leased, dead,\n"
    "                      served, name\n"
    "  p                   pause the chosen tenant and all below it\n"
    "  r                   resume it\n"
    "  K                   kick its dead messages and those below it; y does it\n"
    "  f, e                follow what the chosen job writes, edit it\n"
    "  c                   cancel it; y does it\n"
    "  ?                   this help; any key but q leads on, or back\n"
    "  q, Ctrl-C           quit\n"
    "\n"
    "SHARE is what the weights entitle a tenant to, SERVED what it had of what\n"
    "was given lately. STATE is why a tenant may not be served now.\n";

struct KeyName {
  std::string_view typed;
  TopKey key;
};
constexpr KeyName kTopKeys[] = {
    {"\x1b[A", TopKey::up},
    {"\x1bOA", TopKey::up},
    {"k", TopKey::up},
    {"\x1b[B", TopKey::down},
    {"\x1bOB", TopKey::down},
    {"j", TopKey::down},
    {"\x1b[5~", TopKey::page_up},
    {"\x1b[6~", TopKey::page_down},
    {" ", TopKey::page_down},
    {"\x1b[H", TopKey::first},
    {"\x1bOH", TopKey::first},
    {"\x1b[1~", TopKey::first},
    {"\x1b[F", TopKey::last},
    {"\x1bOF", TopKey::last},
    {"\x1b[4~", TopKey::last},
    {"g", TopKey::first},
    {"G", TopKey::last},
    {"s", TopKey::order},
    {"\t", TopKey::jobs},
    {"c", TopKey::cancel},
    {"f", TopKey::follow},
    {"e", TopKey::edit},
    {"p", TopKey::pause},
    {"r", TopKey::resume},
    {"K", TopKey::kick},
    {"y", TopKey::yes},
    {"?", TopKey::help},
    {"h", TopKey::help},
    {"q", TopKey::quit},
};

/// How many bytes an escape sequence has that is no key of ours.
size_t unknown_bytes(std::string_view typed) {
  if (typed[0] != '\x1b' || typed.size() < 2 || (typed[1] != '[' && typed[1] != 'O')) return 1;
  size_t end = 2;
  while (end < typed.size() && (typed[end] < 0x40 || typed[end] > 0x7e)) ++end;
  return std::min(end + 1, typed.size());
}

bool comes_first(TopOrder order, const TopView::Line& a, const TopView::Line& b) {
  const auto by = [&](const auto& of_a, const auto& of_b) {
    return of_a != of_b ? of_a > of_b : waits_longer(a.row, b.row);
  };
  switch (order) {
    case TopOrder::waiting:
      return waits_longer(a.row, b.row);
    case TopOrder::ready:
      return by(a.row.ready, b.row.ready);
    case TopOrder::leased:
      return by(a.row.leased, b.row.leased);
    case TopOrder::dead:
      return by(a.row.dead, b.row.dead);
    case TopOrder::served:
      return by(a.row.served_share.value_or(-1), b.row.served_share.value_or(-1));
    case TopOrder::name:
      break;
  }
  return a.queue != b.queue ? a.queue < b.queue : a.row.tenant < b.row.tenant;
}

size_t lines_in(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The first `lines` of it.
std::string cut(const std::string& text, size_t lines) {
  size_t end = 0;
  for (; lines > 0 && end < text.size(); --lines) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

/// A line of plain text in lines of at most so many columns, broken between words; the later ones are
/// indented.
std::string wrapped(std::string_view line, size_t columns) {
  const std::string_view indent = columns > 20 && line.starts_with(' ') ? "      " : "";
  std::string text;
  for (size_t room = columns; line.size() > room; room = columns - indent.size()) {
    // Not within what it begins with.
    const size_t word = std::min(line.find_first_not_of(' '), line.size());
    const size_t blank = line.rfind(' ', room);
    const bool breaks = blank != std::string_view::npos && blank > word;
    const std::string_view head = line.substr(0, breaks ? blank : room);
    text.append(head.substr(0, head.find_last_not_of(' ') + 1)).append("\n").append(indent);
    line.remove_prefix(head.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return text.append(line).append("\n");
}

/// Plain text whose lines fit the screen: a terminal would go on below, and the end be lost.
std::string narrowed(std::string_view text, size_t columns) {
  std::string narrow;
  while (!text.empty()) {
    const size_t end = text.find('\n') + 1;
    narrow += wrapped(text.substr(0, end - 1), columns);
    text.remove_prefix(end);
  }
  return narrow;
}

}  // namespace

std::vector<TopKey> top_keys(std::string_view typed) {
  std::vector<TopKey> keys;
  while (!typed.empty()) {
    const auto known = std::find_if(std::begin(kTopKeys), std::end(kTopKeys),
                                    [&](const KeyName& each) { return typed.starts_with(each.typed); });
    const bool found = known != std::end(kTopKeys);
    keys.push_back(found ? known->key : TopKey::none);
    typed.remove_prefix(found ? known->typed.size() : unknown_bytes(typed));
  }
  return keys;
}

void TopView::show(std::vector<QueueStats> queues, std::vector<QueueStats> tenants) {
  const size_t place = choice_.line();
  const std::string queue = chosen() != nullptr ? chosen()->queue : "";
  const std::string tenant = chosen() != nullptr ? chosen()->row.tenant : "";
  lines_.clear();
  queues_ = std::move(queues);
  tenants_ = std::move(tenants);
  several_queues_ = tenants_.size() > 1;
  for (const QueueStats& each : tenants_) {
    for (const StatsRow& row : each.stats.rows) lines_.push_back({each.queue, row});
  }
  sort();
  const auto same = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
    return line.row.tenant == tenant && line.queue == queue;
  });
  if (same == lines_.end()) return choice_.move_to(place, lines_.size());
  const auto index = static_cast<uint32_t>(same - lines_.begin());
  const auto now_at = std::find(sorted_.begin(), sorted_.end(), index) - sorted_.begin();
  choice_.move_to(static_cast<size_t>(now_at), lines_.size());
}

uint64_t TopView::dead_below(const Line& at) const {
  uint64_t dead = 0;
  for (const Line& line : lines_) {
    const std::string& tenant = line.row.tenant;
    const bool below = tenant == at.row.tenant || tenant.starts_with(at.row.tenant + "/");
    if (below && line.queue == at.queue) dead += line.row.dead;
  }
  return dead;
}

void TopView::sort() {
  sorted_.resize(lines_.size());
  std::iota(sorted_.begin(), sorted_.end(), 0U);
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [&](uint32_t a, uint32_t b) { return comes_first(order_, lines_[a], lines_[b]); });
}

void TopView::move(TopKey key) {
  Choice& choice = shows_jobs_ ? jobs_.choice() : choice_;
  const size_t count = shows_jobs_ ? jobs_.count() : lines_.size();
  switch (key) {
    case TopKey::up:
      return choice.move_up(1);
    case TopKey::down:
      return choice.move_down(1, count);
    case TopKey::page_up:
      return choice.move_up(choice.page());
    case TopKey::page_down:
      return choice.move_down(choice.page(), count);
    case TopKey::first:
      return choice.move_to(0, count);
    case TopKey::last:
      return choice.move_to(SIZE_MAX, count);
    default:
      return;
  }
}

void TopView::take(TopKey key) {
  if (helps()) key = TopKey::help;
  switch (key) {
    case TopKey::order:
      if (shows_jobs_) return;
      order_ = static_cast<TopOrder>((static_cast<size_t>(order_) + 1) % kOrders);
      sort();
      return choice_.move_to(0, lines_.size());
    case TopKey::jobs:
      shows_jobs_ = !shows_jobs_;
      return;
    case TopKey::help:
      help_ = !help_ || help_rest_ != 0;
      help_from_ = std::exchange(help_rest_, 0);
      return;
    default:
      return move(key);
  }
}

std::string TopView::tenants_text(const Screen& screen, size_t rows) {
  choice_.fit(rows, lines_.size());
  TenantTable table(Choice::screen_beside(screen), several_queues_);
  for (size_t i = choice_.first(); i < choice_.end(); ++i) {
    table.add(line_at(i).queue, line_at(i).row);
    if (i == choice_.line()) table.choose();
  }
  return choice_.marked(table.lines(), screen);
}

std::string TopView::keys_text() const {
  if (shows_jobs_) return "q quit  ? help  Tab tenants  f follow  e edit  c cancel";
  return "q quit  ? help  Tab jobs  p pause  r resume  K kick  s sort: " +
         std::string(kOrderNames[static_cast<size_t>(order_)]);
}

std::string TopView::help_text(const Screen& screen, size_t rows) {
  std::string text = narrowed(kHelp, screen.columns);
  text.erase(0, cut(text, help_from_).size());
  const size_t lines = lines_in(text);
  help_rest_ = lines > rows ? help_from_ + rows - 1 : 0;
  if (help_rest_ == 0) return text;
  const std::string more = "... " + counted(lines - rows + 1, "line") + " more, by any key but q";
  return cut(text, rows - 1) + shown_short(more, std::max<size_t>(screen.columns, 5) - 4) + "\n";
}

std::string TopView::frame(const Screen& screen) {
  const size_t rows = std::max<size_t>(screen.rows, 5);
  if (help_) return over_the_last(help_text(screen, rows - 1), screen);
  const size_t for_queues = std::max<size_t>(rows / 3, 2);
  std::string text = cut(stats_table(queues_, false, screen, for_queues), for_queues);
  text += "\n";
  const size_t left = rows - lines_in(text) - 1;
  const std::string tenants = lines_.empty() ? "no tenants\n" : tenants_text(screen, left);
  text += cut(shows_jobs_ ? jobs_.text(screen, left) : tenants, left);
  for (size_t line = lines_in(text); line + 1 < rows; ++line) text += "\n";
  const std::string below = notice_.empty() ? keys_text() : notice_;
  const size_t room = std::max<size_t>(screen.columns, 5) - 4;  // shown_short adds dots
  text += painted(shown_short(below, room), notice_.empty() ? kQuiet : kWaiting, screen);
  return over_the_last(text, screen);
}

}  // namespace fq::cli
