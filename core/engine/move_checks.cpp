#include "core/engine/move_checks.h"

// System.
#include <string>
// fq, below us.
#include "core/base/tenant_name.h"

namespace fq {

Result<void> check_move(const MoveRequest& request, std::string_view queue) {
  if (request.to == queue)
    return Error{ErrorKind::usage, "queue '" + request.to + "': is the queue that they are in; name another",
                 0};
  const std::string_view fault = queue_name_fault(request.to);
  if (!fault.empty()) return Error{ErrorKind::usage, "queue '" + request.to + "': " + std::string(fault), 0};
  const std::string_view of_tenant =
      request.tenant.empty() ? std::string_view() : tenant_name_fault(request.tenant);
  if (of_tenant.empty()) return {};
  return Error{ErrorKind::usage, "tenant '" + request.tenant + "': " + std::string(of_tenant), 0};
}

}  // namespace fq
