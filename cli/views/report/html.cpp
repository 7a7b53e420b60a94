#include "cli/views/report/html.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/terminal/shown.h"

namespace fq::cli {

Html& Html::text(std::string_view any) {
  for (const char each : shown(any)) {
    switch (each) {
      case '&':
        page_ += "&amp;";
        break;
      case '<':
        page_ += "&lt;";
        break;
      case '>':
        page_ += "&gt;";
        break;
      case '"':
        page_ += "&quot;";
        break;
      case '\'':
        page_ += "&#39;";
        break;
      default:
        page_ += each;
    }
  }
  return *this;
}

Html& Html::cell(std::string_view any, std::string_view kind) {
  raw("<").raw(kind).raw(">").text(any);
  return raw("</").raw(kind.substr(0, 2)).raw(">");
}

Html& Html::bars(const Activity::Series& series, uint32_t scale, std::string_view label) {
  constexpr uint32_t kHigh = 24, kWide = 10;
  raw("<svg role=\"img\" viewBox=\"0 0 600 24\" preserveAspectRatio=\"none\" aria-label=\"")
      .text(label)
      .raw("\">");
  raw("<path d=\"");
  for (size_t step = 0; step < series.size(); ++step) {
    if (series[step] == 0) continue;
    // Whatever happened is seen, however little of it.
    const uint64_t high =
        std::max<uint64_t>(1, uint64_t{series[step]} * kHigh / std::max<uint32_t>(1, scale));
    raw("M" + std::to_string(step * kWide) + " " + std::to_string(kHigh) + "v-" + std::to_string(high) +
        "h9v" + std::to_string(high) + "z");
  }
  return raw("\"/></svg>");
}

Html& Html::share(double part) {
  const int percent = static_cast<int>(std::clamp(part, 0.0, 1.0) * 100 + 0.5);
  return raw("<div class=share><i style=\"width:" + std::to_string(percent) + "%\"></i></div>");
}

}  // namespace fq::cli
