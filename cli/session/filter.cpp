#include "cli/session/filter.h"

// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/values.h"

namespace fq::cli {

Result<Filter> filter_of(const Arguments& arguments, std::string_view tenant) {
  Filter filter;
  if (const auto typed = arguments.value(tenant)) {
    FQ_TRY_SET(filter.tenant, to_tenant(std::string("--").append(tenant), *typed));
  }
  if (const auto typed = arguments.value("tag")) {
    FQ_TRY_SET(filter.tag, to_tag("--tag", *typed));
  }
  return filter;
}

Result<void> refuse_pattern(Queue& queue, const std::string& tenant) {
  if (tenant.find('*') == std::string::npos) return {};
  FQ_TRY_SET(const StatsReply known, queue.stats({.tenants = true, .tenant = tenant}));
  if (!known.rows.empty()) return {};
  return usage_error("--tenant", in_quotes(tenant) +
                                     ": no tenant has that name, and it is not a pattern; a tenant takes in "
                                     "all that is below it");
}

}  // namespace fq::cli
