#include "cli/views/report/report_page.h"

// System.
#include <algorithm>
#include <cmath>
// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/duration.h"
// fq, this room.
#include "cli/views/report/html.h"
#include "cli/views/message_view.h"
#include "cli/views/stats/stats_text.h"
#include "cli/words/local_time.h"

namespace fq::cli {

namespace {

constexpr size_t kTenantsOnPage = 20;
constexpr size_t kReasonsOnPage = 20;
constexpr size_t kCommandOnPage = 100;

constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\n"
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>fq "
    "report</title>\n<style>\n"
    ":root{color-scheme:light dark;--ink:#1b1f24;--quiet:#57606a;--line:#d0d7de;--bar:#0969da;--bad:#b3261e;"
    "--page:#fff}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--quiet:#9198a1;--line:#3d444d;--bar:#58a6ff;"
    "--bad:#ff8f87;--page:#0d1117}}\n"
    "body{margin:0 auto;max-width:60rem;padding:1rem;font:1rem/1.45 system-ui,sans-serif;color:var(--ink);"
    "background:var(--page)}\n"
    "h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.25rem;margin:2em 0 .3em;border-bottom:1px solid "
    "var(--line)}h3{font-size:1rem;margin:1.4em 0 .3em}p{margin:.3em 0}.quiet,caption{color:var(--quiet)}\n"
    "table{border-collapse:collapse;width:100%}caption{text-align:left;font-size:.875rem}th,td{text-align:"
    "left;"
    "padding:.15em .8em .15em 0;vertical-align:top;overflow-wrap:anywhere}th{font-weight:600}"
    "thead th{color:var(--quiet);font-weight:400;font-size:.875rem;overflow-wrap:normal}"
    "td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.over{width:45%}\n"
    "svg{display:block;width:100%;height:1.5rem;border-bottom:1px solid var(--line)}svg path{fill:var(--bar)}"
    "tr.bad svg path{fill:var(--bad)}tr.bad .share i{background:var(--bad)}.whole{white-space:nowrap}\n"
    ".share{height:.9rem;margin-top:.3em;border-left:1px solid var(--line)}.share "
    "i{display:block;height:100%;"
    "background:var(--bar)}.stuck{border-left:.25rem solid var(--bad);padding-left:.6rem}code{font-size:.9em;"
    "overflow-wrap:anywhere}\n"
    "dl{display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;margin:.5em 0}dt{color:var(--quiet);font-size:.875rem}"
    "dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}\n"
    "@media(max-width:32rem){td.over{width:35%}th,td{padding-right:.5em}}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}h2,h3,thead{break-after:avoid}tr{break-inside:"
    "avoid}svg path,.share i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n"
    "</style></head><body>\n";

uint32_t highest(const Activity::Series& series) { return *std::max_element(series.begin(), series.end()); }

uint64_t sum(const Activity::Series& series) {
  uint64_t all = 0;
  for (const uint32_t each : series) all += each;
  return all;
}

std::string span_text(int64_t ms) { return format_duration(ms - ms % (ms >= 60'000 ? 60'000 : 1'000)); }

/// "0.25/s", "12/min": what a person would say.
std::string rate_of(uint64_t count, int64_t ms) {
  const double per_s = static_cast<double>(count) * 1'000 / static_cast<double>(std::max<int64_t>(ms, 1));
  const auto text = [](double number) {
    std::string digits = std::to_string(std::round(number * 10) / 10);
    return digits.substr(0, digits.find('.') + 2);
  };
  if (per_s >= 1) return text(per_s) + "/s";
  return per_s * 60 >= 1 ? text(per_s * 60) + "/min" : text(per_s * 3600) + "/h";
}

void write_sums(Html& page, const QueueReport& of) {
  const StatsRow& row = of.sums;
  page.raw("<dl>");
  const std::pair<const char*, std::string> numbers[] = {
      {"ready", std::to_string(row.ready)},     {"running", std::to_string(row.leased)},
      {"delayed", std::to_string(row.delayed)}, {"held", std::to_string(row.held)},
      {"dead", std::to_string(row.dead)},       {"oldest ready", age_text(row.oldest_ready_s)}};
  for (const auto& [name, value] : numbers)
    page.raw("<div><dt>").text(name).raw("</dt><dd>").text(value).raw("</dd></div>");
  page.raw("</dl>\n<p>").text("Workers: " + hands_text(of.context.measured.hands)).raw("</p>\n");
}

void write_turns(Html& page, const QueueReport& of) {
  const std::vector<Activity::Turns> turns = of.activity.turns(kTenantsOnPage);
  if (turns.empty()) return;
  uint64_t all = 0;
  uint32_t scale = 1;
  for (const Activity::Turns& each : turns) {
    all += each.count;
    if (!each.tenant.empty()) scale = std::max(scale, highest(each.over_time));
  }
  page.raw("<h3>Turns of tenants</h3><table><thead><tr>");
  page.cell("tenant", "th").cell("turns", "th").cell("share", "th").cell("over the time", "th");
  page.raw("</tr></thead>\n");
  for (const Activity::Turns& each : turns) {
    const auto share = static_cast<double>(each.count) / static_cast<double>(all);
    page.raw("<tr>").cell(each.tenant.empty() ? "all others" : each.tenant, "td");
    page.cell(std::to_string(each.count), "td class=n").cell(percent_text(share), "td class=n");
    page.raw("<td class=over>");
    const uint32_t own = each.tenant.empty() ? std::max(scale, highest(each.over_time)) : scale;
    page.bars(each.over_time, own, "turns over the time").raw("</td></tr>\n");
  }
  page.raw("</table>\n");
}

void write_throughput(Html& page, const QueueReport& of) {
  const Activity& activity = of.activity;
  const int64_t span_ms = activity.until_wall_ms() - activity.from_wall_ms();
  struct Line {
    const char* name;
    const Activity::Series& series;
    bool bad;
  };
  const Line lines[] = {{"pushed", activity.pushed(), false},
                        {"started", activity.started(), false},
                        {"acked", activity.acked(), false},
                        {"failed", activity.failed(), true}};
  uint32_t scale = 1;
  for (const Line& line : lines) scale = std::max(scale, highest(line.series));
  page.raw("<h3>Throughput</h3><table><thead><tr>");
  page.cell("", "th").cell("messages", "th").cell("on average", "th").cell("over the time", "th");
  page.raw("</tr></thead>\n");
  for (const Line& line : lines) {
    const uint64_t all = sum(line.series);
    page.raw(line.bad ? "<tr class=bad>" : "<tr>").cell(line.name);
    page.cell(std::to_string(all), "td class=n").cell(rate_of(all, span_ms), "td class=n");
    page.raw("<td class=over>").bars(line.series, scale, "messages over the time").raw("</td></tr>\n");
  }
  page.raw("</table>\n");
}

/// Octave 0 is below 1 ms, octave n from 2^(n-1) up to 2^n ms.
std::string octave_text(size_t octave) {
  if (octave == 0) return "below 1ms";
  const int64_t from = int64_t{1} << (octave - 1);
  return wait_text(from) + " to " + wait_text(2 * from);
}

void write_waits(Html& page, const QueueReport& of) {
  const Percentiles& waits = of.sums.wait_ms;
  if (waits.count == 0) return;
  const uint64_t most = *std::max_element(waits.by_octave.begin(), waits.by_octave.end());
  page.raw("<h3>Waits</h3><table><caption>")
      .text("From ready to the first delivery, since the queue was made: half within " +
            wait_text(waits.p50) + ", 99% within " + wait_text(waits.p99) + ", the longest " +
            wait_text(waits.max))
      .raw("</caption>\n");
  const auto used = [](uint64_t count) { return count > 0; };
  const auto first = std::find_if(waits.by_octave.begin(), waits.by_octave.end(), used);
  for (auto each = first; each != waits.by_octave.end(); ++each) {
    page.raw("<tr>").cell(octave_text(static_cast<size_t>(each - waits.by_octave.begin())));
    page.cell(std::to_string(*each), "td class=n").raw("<td class=over>");
    page.share(static_cast<double>(*each) / static_cast<double>(most)).raw("</td></tr>\n");
  }
  page.raw("</table>\n");
}

void write_failures(Html& page, const QueueReport& of) {
  std::vector<Activity::Failure> failures = of.activity.failures(kReasonsOnPage);
  // What time alone did is no event of every engine; how often is known.
  const bool told = std::any_of(failures.begin(), failures.end(),
                                [](const Activity::Failure& each) { return each.reason == kExpired; });
  if (of.sums.expired > 0 && !told)
    failures.push_back({std::string(kExpired) + ", since the queue was made", of.sums.expired});
  if (failures.empty()) return;
  uint64_t most = 0;
  for (const Activity::Failure& each : failures) most = std::max(most, each.count);
  page.raw("<h3>Failures by reason</h3><table>\n");
  for (const Activity::Failure& each : failures) {
    page.raw("<tr class=bad>").cell(each.reason).cell(std::to_string(each.count), "td class=n");
    page.raw("<td class=over>").share(static_cast<double>(each.count) / static_cast<double>(most));
    page.raw("</td></tr>\n");
  }
  page.raw("</table>\n");
}

void write_running(Html& page, const QueueReport& of, int64_t now_wall_ms) {
  if (of.running.empty()) return;
  page.raw("<h3>Running now</h3><table><thead><tr>");
  for (const char* head : {"id", "tenant", "for", "process", "command"}) page.cell(head, "th");
  page.raw("</tr></thead>\n");
  for (const MessageInfo& message : of.running) {
    const auto& since = message.started_at_wall_ms;
    page.raw("<tr>").cell(std::to_string(number(message.id)), "td class=n").cell(message.tenant);
    page.cell(since ? span_text(std::max<int64_t>(0, now_wall_ms - *since)) : "-", "td class=n");
    page.cell(message.holder_pid ? std::to_string(*message.holder_pid) : "-", "td class=n");
    page.raw("<td><code>").text(content_text(message, kCommandOnPage)).raw("</code></td></tr>\n");
  }
  page.raw("</table>\n");
  if (of.more_running > 0)
    page.raw("<p class=quiet>")
        .text(counted(of.more_running, "more is", "more are") + " at work")
        .raw("</p>\n");
}

void write_stuck(Html& page, const QueueReport& of) {
  std::vector<std::string> stuck;
  const StatsRow& row = of.sums;
  if (row.paused) stuck.push_back("the queue is paused: nothing is served");
  if (row.draining) stuck.push_back("the queue is draining: pushes are refused");
  if (row.ready > 0 && of.context.measured.hands.workers == 0) {
    stuck.push_back(counted(row.ready, "message is ready and no worker is attached",
                            "messages are ready and no worker is attached"));
  }
  page.raw("<h3>What is stuck, and why</h3>\n");
  if (stuck.empty() && row.dead == 0 && of.blocked.blocked.empty()) page.raw("<p class=quiet>Nothing.</p>\n");
  for (const std::string& line : stuck) page.raw("<p class=stuck>").text(line).raw("</p>\n");
  if (row.dead > 0) {
    page.raw("<p class=stuck>").text(counted(row.dead, "dead message", "dead messages") + ": ");
    page.raw("<code>").text("fq jobs -q " + of.queue).raw(" <span class=whole>--state</span> dead</code>");
    page.text(" tells why, ").raw("<code>fq kick</code>").text(" brings back").raw("</p>\n");
  }
  if (of.blocked.blocked.empty()) return;
  page.raw("<table><thead><tr>");
  for (const char* head : {"tenant", "ready", "why", "to change it"}) page.cell(head, "th");
  page.raw("</tr></thead>\n");
  for (const Explanation& one : of.blocked.blocked) {
    bool first = true;
    for (const Reason& reason : one.reasons) {
      const ReasonText told = reason_text(one, reason, of.context);
      page.raw("<tr>")
          .cell(first ? one.tenant : "")
          .cell(first ? std::to_string(one.ready) : "", "td class=n");
      page.cell(told.what).raw("<td><code>").text(told.change).raw("</code></td></tr>\n");
      first = false;
    }
  }
  page.raw("</table>\n");
  if (of.blocked.more_blocked > 0)
    page.raw("<p class=quiet>").text("and " + counted(of.blocked.more_blocked, "more tenant")).raw("</p>\n");
}

void write_queue(Html& page, const QueueReport& of, const ReportRequest& request) {
  page.raw("<h2>").text("Queue " + of.queue).raw("</h2>\n");
  if (!of.away.is_empty())
    page.raw("<p class=stuck>").text(of.away.text() + "; what is below is without them").raw("</p>\n");
  const Activity& activity = of.activity;
  page.raw("<p class=quiet>");
  if (activity.empty()) {
    page.text("no events are kept of this time");
  } else {
    page.text(counted(activity.events(), "event") + " from ").raw("<span class=whole>");
    page.text(local_time_text(activity.from_wall_ms())).raw("</span>");
    page.text(" on, " + span_text(activity.until_wall_ms() - activity.from_wall_ms()) +
              "; what is older is not kept or was not asked for");
  }
  page.raw("</p>\n");
  write_sums(page, of);
  write_stuck(page, of);
  write_running(page, of, request.now_wall_ms);
  if (!activity.empty()) write_turns(page, of);
  if (!activity.empty()) write_throughput(page, of);
  write_waits(page, of);
  write_failures(page, of);
}

}  // namespace

std::string report_page(const std::vector<QueueReport>& queues, const ReportRequest& request) {
  Html page;
  page.raw(kHead).raw("<h1>fq report</h1>\n<p class=quiet>");
  page.text("made at " + local_time_text(request.now_wall_ms));
  if (request.since_wall_ms) page.text(", of what happened since " + local_time_text(*request.since_wall_ms));
  page.raw("</p>\n");
  for (const QueueReport& queue : queues) write_queue(page, queue, request);
  return page.raw("</body></html>\n").page();
}

}  // namespace fq::cli
