#include "core/local/look/event_log.h"

// System.
#include <algorithm>

namespace fq {

namespace {

// A page ends before its texts would have to move: the views point to them. Chosen: many pages fill by count.
constexpr size_t kTextBytes = 512 * 1024;
constexpr size_t kTextBytesOfEvent = 8 * 1024;  // above what a receipt, a reason and a tail of stderr take

std::string_view keep(std::string& texts, std::string_view text) {
  if (text.empty()) return {};
  const size_t at = texts.size();
  texts.append(text);
  return std::string_view(texts).substr(at);
}

}  // namespace

int64_t expiry_of(const MessageItem& item, int64_t at_wall_ms, int64_t due_wall_ms) {
  if (item.terms.empty()) return 0;
  const std::optional<MessageTerms> terms = decode_terms(item.terms);
  if (!terms || terms->ttl_ms == 0 || !terms->after.empty()) return 0;
  return std::max(at_wall_ms, due_wall_ms) + terms->ttl_ms;
}

bool TenantNames::fits(std::string_view path) const {
  if (wanted_.empty() || path == wanted_) return true;
  return path.starts_with(wanted_) && path[wanted_.size()] == '/';
}

void TenantNames::want(std::string_view path) {
  if (path == wanted_) return;
  wanted_ = path;
  for (Name& name : names_) name.wanted = fits(name.path);
}

uint32_t TenantNames::number_of(std::string_view path) {
  if (last_ != 0 && this->path(last_) == path) return last_;
  const auto found = numbers_.find(path);
  if (found != numbers_.end()) return last_ = found->second;
  if (free_.empty()) {
    names_.emplace_back();
    free_.push_back(static_cast<uint32_t>(names_.size()));
  }
  last_ = free_.back();
  free_.pop_back();
  Name& name = names_[last_ - 1];
  name = {std::string(path), fits(path)};
  numbers_.emplace(name.path, last_);
  return last_;
}

void TenantNames::keep(const std::vector<bool>& used) {
  for (uint32_t tenant = 1; tenant <= names_.size(); ++tenant) {
    Name& name = names_[tenant - 1];
    if (used[tenant - 1] || numbers_.erase(name.path) == 0) continue;
    name = {};
    free_.push_back(tenant);
  }
  last_ = 0;
  many_ = std::max(kMany, 2 * numbers_.size());
}

TenantsById::Group* TenantsById::find(uint64_t number) {
  if (number == last_number_) return last_;
  const auto found = groups_.find(number);
  if (found == groups_.end()) return nullptr;
  last_number_ = number;
  return last_ = found->second.get();
}

uint32_t TenantsById::get(uint64_t id) {
  const Group* group = find(id / kGroup);
  return group == nullptr ? 0 : group->tenants[id % kGroup];
}

void TenantsById::set(uint64_t id, uint32_t tenant) {
  Group* group = find(id / kGroup);
  if (group == nullptr) {
    group = groups_.emplace(id / kGroup, std::make_unique<Group>()).first->second.get();
    last_number_ = id / kGroup;
    last_ = group;
  }
  uint32_t& here = group->tenants[id % kGroup];
  if (here == 0) ++group->count;
  here = tenant;
}

void TenantsById::forget(uint64_t id) {
  Group* group = find(id / kGroup);
  if (group == nullptr || group->tenants[id % kGroup] == 0) return;
  group->tenants[id % kGroup] = 0;
  if (--group->count != 0) return;
  last_number_ = UINT64_MAX;
  groups_.erase(id / kGroup);
}

uint32_t EventLog::owner_of(const MessageItem& item) {
  return tenants.number_of(item.tenant) | (tag && has_tag(item, *tag) ? kTagged : 0);
}

void EventLog::forget_names() {
  if (!tenants.are_many()) return;
  std::vector<bool> used(tenants.count());
  by_id.visit([&](uint32_t owner) {
    if (owner != kNobody) used[(owner & ~kTagged) - 1] = true;
  });
  tenants.keep(used);
}

bool EventLog::tell(const EventRequest& request, EventPage& page, uint32_t item, uint32_t owner,
                    const Event& event) {
  if (position < from_position || (position == from_position && item < from_item)) return true;
  const bool known = owner != 0 && owner != kNobody;
  const uint32_t tenant = owner & ~kTagged;
  if (tag && !(known && (owner & kTagged) != 0)) return true;
  if (!request.tenant.empty() && !(known && tenants.is_wanted(tenant))) return true;
  if (request.id && *request.id != event.id) return true;
  if (request.since_wall_ms && event.at_wall_ms < *request.since_wall_ms) return true;
  if (page.events.size() >= request.n || page.texts.size() + kTextBytesOfEvent > kTextBytes) {
    from_position = position;
    from_item = item;
    return false;
  }
  page.texts.reserve(kTextBytes);
  Event& told = page.events.emplace_back(event);
  if (known) told.tenant = tenants.path(tenant);
  told.receipt = keep(page.texts, event.receipt);
  told.schedule = keep(page.texts, event.schedule);
  told.key = keep(page.texts, event.key);
  told.after = keep(page.texts, event.after);
  told.after_any = keep(page.texts, event.after_any);
  if (event.set != nullptr) told.set = &page.settings.emplace_back(*event.set);
  told.step = keep(page.texts, event.step);
  told.reason = keep(page.texts, event.reason);
  told.stderr_tail = keep(page.texts, event.stderr_tail);
  return true;
}

}  // namespace fq
