// html - pieces of a page, with all that comes from outside made harmless.
//
// A name or a reason is text first: escaped as for any human view, so that nothing turns the writing around
// or hides, and then for HTML. There is no way to put in markup of somebody else's.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "cli/views/report/activity.h"

namespace fq::cli {

class Html {
 public:
  /// Markup of our own, as it is.
  Html& raw(std::string_view markup) { return page_ += markup, *this; }
  /// Anything; also good within quotes of an attribute.
  Html& text(std::string_view any);
  /// "<th>" or "<td class=NAME>": a cell with a text in it.
  Html& cell(std::string_view any, std::string_view kind = "td");
  /// Bars over time, drawn as large as the highest of `scale`; `label` is what a reader who sees none is
  /// told.
  Html& bars(const Activity::Series& series, uint32_t scale, std::string_view label);
  /// A bar of so many parts of 1.
  Html& share(double part);

  const std::string& page() const { return page_; }

 private:
  std::string page_;
};

}  // namespace fq::cli
