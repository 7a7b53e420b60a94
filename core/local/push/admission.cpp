#include "core/local/push/admission.h"

// System.
#include <algorithm>
#include <map>
// fq, below us.
#include "core/base/text/counted.h"
namespace fq {

namespace {

/// Of "a/b/c": "", "a", "a/b", "a/b/c".
template <class Visit>
void visit_path(std::string_view tenant, Visit&& visit) {
  visit(std::string_view());
  for (size_t end = tenant.find('/'); end != std::string_view::npos; end = tenant.find('/', end + 1)) {
    visit(tenant.substr(0, end));
  }
  visit(tenant);
}

}  // namespace

std::vector<Arrival> arrivals_of(std::span<const MessageItem> items) {
  std::map<std::string_view, Arrival> by_path;
  for (const MessageItem& item : items) {
    visit_path(item.tenant, [&](std::string_view path) {
      Arrival& arrival = by_path[path];
      arrival.path = path;
      arrival.messages += 1;
      arrival.bytes += item.payload_bytes;
    });
  }
  std::vector<Arrival> all;
  for (const auto& [path, arrival] : by_path) all.push_back(arrival);
  return all;
}

/// What is accepted at this path and not linked yet. Needs: the lock.
Arrival Admission::pending_at(std::string_view path) {
  Arrival pending{path, 0, 0};
  gate().visit_pending([&](const MessageItem& item) {
    visit_path(item.tenant, [&](std::string_view at) {
      if (at != path) return;
      pending.messages += 1;
      pending.bytes += item.payload_bytes;
    });
  });
  return pending;
}

std::optional<Error> Admission::find_obstacle(std::span<const Arrival> arrivals,
                                              std::span<const Arrival> leaves) {
  if (header().policy.draining != 0) {
    return Error{ErrorKind::later,
                 object() + ": is draining and takes no more; run fq queue resume " +
                     link_.attachment().location().queue + " to end that",
                 0};
  }
  return over_limit(arrivals, leaves);
}

std::optional<Error> Admission::over_limit(std::span<const Arrival> arrivals,
                                           std::span<const Arrival> leaves) {
  for (const Arrival& arrival : arrivals) {
    const NodePolicy::Holding holding = schedule().policy().holding_of(arrival.path);
    const bool unlimited = holding.messages_max == UINT64_MAX && holding.bytes_max == UINT64_MAX;
    if (unlimited) continue;
    uint64_t messages = holding.messages;
    uint64_t bytes = holding.bytes;
    // Only near the limit, or each batch would walk what is pending once for each of its tenants.
    const uint64_t pending_messages = header().pending_messages;
    const bool near = holding.bytes_max != UINT64_MAX ||
                      messages + arrival.messages + pending_messages > holding.messages_max;
    if (pending_messages != 0 && near) {
      const Arrival pending = pending_at(arrival.path);
      messages += pending.messages;
      bytes += pending.bytes;
    }
    for (const Arrival& leave : leaves) {
      if (leave.path != arrival.path) continue;
      messages -= std::min(messages, leave.messages);  // it may have ended by now
      bytes -= std::min(bytes, leave.bytes);
    }
    // A payload that takes another's place is no message more, and may be no byte more.
    const bool grows = arrival.messages != 0 || arrival.bytes != 0;
    const bool too_many = arrival.messages != 0 && messages + arrival.messages > holding.messages_max;
    const bool too_large = grows && bytes + arrival.bytes > holding.bytes_max;
    if (!too_many && !too_large) continue;
    over_limit_ = true;
    never_fits_ = too_many ? arrival.messages > holding.messages_max : arrival.bytes > holding.bytes_max;
    const auto amount = [&](uint64_t of_messages, uint64_t of_bytes) {
      return too_many ? counted(of_messages, "message") : counted(of_bytes, "byte");
    };
    const std::string limit = ", the limit is " +
                              std::to_string(too_many ? holding.messages_max : holding.bytes_max) +
                              (too_many ? " (max_messages)" : " (max_bytes)");
    const std::string who = arrival.path.empty() ? object() : "tenant '" + std::string(arrival.path) + "'";
    return Error{ErrorKind::later,
                 never_fits_
                     ? who + ": gets " + amount(arrival.messages, arrival.bytes) + " at once" + limit
                     : who + ": has " + amount(messages, bytes) + limit + "; try again when some are done",
                 0};
  }
  return std::nullopt;
}

}  // namespace fq
