// model_tree - turns, and the rules of names, of the model queue.
//
// Rings are deques of paths: the first is next, who was served goes to the end if work is left, who
// comes anew joins at the end. Nothing is remembered of a child that has no work.
#include "tests/fakes/model_queue.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte(i);
    size_t more = 0;
    if (lead >= 0x80) more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (more != 0 && (lead < 0xC2 || lead > 0xF4)) return false;
    if (i + more >= text.size()) return false;
    for (size_t k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    if ((lead == 0xE0 && byte(i + 1) < 0xA0) || (lead == 0xED && byte(i + 1) >= 0xA0)) return false;
    if ((lead == 0xF0 && byte(i + 1) < 0x90) || (lead == 0xF4 && byte(i + 1) >= 0x90)) return false;
    i += more + 1;
  }
  return true;
}

bool is_tenant(std::string_view tenant) {
  if (tenant.empty() || tenant.size() > kTenantBytesMax || !is_utf8(tenant)) return false;
  if (std::any_of(tenant.begin(), tenant.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
    return false;
  }
  size_t levels = 0;
  for (size_t start = 0; start <= tenant.size(); ++levels) {
    const size_t end = std::min(tenant.find('/', start), tenant.size());
    const std::string_view level = tenant.substr(start, end - start);
    if (level.empty() || level == "." || level == "..") return false;
    start = end + 1;
  }
  return levels <= kTenantLevelsMax;
}

}  // namespace

bool Place::operator<(const Place& other) const {
  if (key.empty() != other.key.empty()) return !key.empty();
  if (key != other.key) return key < other.key;  // std::string compares as unsigned bytes
  if (priority != other.priority) return priority > other.priority;
  return id < other.id;
}

void ModelTree::put(const std::string& tenant, Place place) {
  nodes_[tenant].own.insert(std::move(place));
  std::string child = tenant;
  for (std::string path = tenant;;) {
    std::deque<std::string>& ring = nodes_[path].ring;
    if (std::find(ring.begin(), ring.end(), child) == ring.end()) ring.push_back(child);
    if (path.empty()) return;
    child = path;
    path = parent_of(path);
  }
}

void ModelTree::remove(const std::string& tenant, const Place& place) {
  nodes_[tenant].own.erase(place);
  leave_if_idle(tenant);
}

bool ModelTree::has_work(const std::string& path, const std::string& child) const {
  const auto node = nodes_.find(child);
  if (node == nodes_.end()) return false;
  return path == child ? !node->second.own.empty() : !node->second.ring.empty();
}

/// Takes out of all rings from `path` up whatever has no work any more.
void ModelTree::leave_if_idle(std::string path) {
  std::string child = path;
  for (;;) {
    std::deque<std::string>& ring = nodes_[path].ring;
    if (!has_work(path, child)) std::erase(ring, child);
    if (path.empty()) return;
    child = path;
    path = parent_of(path);
  }
}

std::optional<uint64_t> ModelTree::next(const std::string& path) const {
  for (std::string at = path;;) {
    const auto node = nodes_.find(at);
    if (node == nodes_.end() || node->second.ring.empty()) return {};
    const std::string& child = node->second.ring.front();
    if (child == at) return node->second.own.begin()->id;
    at = child;
  }
}

std::optional<uint64_t> ModelTree::take(const std::string& path) {
  if (!next(path)) return {};
  const uint64_t id = take_below(path);
  leave_if_idle(path);
  return id;
}

uint64_t ModelTree::take_below(const std::string& path) {
  Node& node = nodes_.at(path);
  const std::string child = node.ring.front();
  node.ring.pop_front();
  uint64_t id = 0;
  if (child == path) {
    id = node.own.begin()->id;
    node.own.erase(node.own.begin());
  } else {
    id = take_below(child);
  }
  if (has_work(path, child)) node.ring.push_back(child);
  return id;
}

std::string_view problem_with(const NewMessage& message, const Settings& settings) {
  if (!is_tenant(message.tenant)) return "tenant: breaks a rule of names";
  if (message.payload.size() > settings.payload_bytes_max) return "payload: is too long";
  if (message.key.size() > kSortKeyBytesMax) return "key: is too long";
  if (message.attempts_max && (*message.attempts_max == 0 || *message.attempts_max > kAttemptsMax)) {
    return "attempts: is out of range";
  }
  if (message.tags.size() > kTagsMax) return "tags: are too many";
  for (const Tag& tag : message.tags) {
    if (tag.name.size() + tag.value.size() > kTagBytesMax) return "tag: is too long";
  }
  return "";
}

}  // namespace fq::test
