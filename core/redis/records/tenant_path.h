// tenant_path - the tenants below a path.
#pragma once

// System.
#include <string_view>

namespace fq {

/// Whether it is that one or below it; "" is above all.
inline bool is_at_or_below(std::string_view tenant, std::string_view path) {
  return path.empty() || tenant == path || (tenant.starts_with(path) && tenant[path.size()] == '/');
}

}  // namespace fq
