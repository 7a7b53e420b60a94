// model_order - the order of what is ready: inside one tenant, and by the turns of all.
#include "tests/fakes/model.h"

// System.
#include <algorithm>
#include <iterator>
#include <map>
// fq, below us.
#include "core/base/sort_key.h"

namespace fq::test {

namespace {

/// Inside their tenant: with a sort key first, then higher priority, then older.
bool ranks_before(const Model::Message& a, const Model::Message& b) {
  if (a.key.empty() != b.key.empty()) return !a.key.empty();
  const std::string_view x = order_of_sort_key(a.key), y = order_of_sort_key(b.key);
  return x != y ? x < y : a.rank > b.rank;  // they compare as unsigned bytes
}

bool is_before(const Model::Message& a, const Model::Message& b) {
  if (ranks_before(a, b)) return true;
  return !ranks_before(b, a) && a.info.id < b.info.id;
}

}  // namespace

Model::Message* Model::first_of(const std::string& leaf) {
  Message* best = nullptr;
  for (Message& each : messages) {
    if (each.info.state != State::ready || each.info.tenant + "/" != leaf) continue;
    if (best == nullptr || is_before(each, *best)) best = &each;
  }
  return best;
}

Model::Message* Model::next(std::string_view path) {
  std::map<std::string, Message*> firsts;  // by leaf
  for (Message& each : messages) {
    if (each.info.state != State::ready) continue;
    Message*& first = firsts[each.info.tenant + "/"];
    if (first == nullptr || is_before(each, *first)) first = &each;
  }
  const auto before = [&](const std::string& x, const std::string& y) {
    return ranks_before(*firsts.at(x), *firsts.at(y));
  };
  const std::string leaf = turns_.next(path, before);
  return leaf.empty() ? nullptr : firsts.at(leaf);
}

/// Of all that is ready the order inside each tenant is worked out once: looked for at every turn, it would
/// be most of what the tests of long lists take.
std::vector<MessageId> Model::turns_at(std::string_view path, bool start) const {
  std::map<std::string, std::vector<const Message*>> waiting;  // by leaf, the next one last
  for (const Message& each : messages)
    if (each.info.state == State::ready) waiting[each.info.tenant + "/"].push_back(&each);
  for (auto& [leaf, all] : waiting)
    std::sort(all.begin(), all.end(), [](const Message* a, const Message* b) { return is_before(*b, *a); });
  const auto before = [&](const std::string& x, const std::string& y) {
    return ranks_before(*waiting.at(x).back(), *waiting.at(y).back());
  };
  ModelTurns turns = turns_;
  std::vector<MessageId> ids;
  for (std::string leaf; !(leaf = turns.next(path, before)).empty(); waiting.at(leaf).pop_back()) {
    const Message& message = *waiting.at(leaf).back();
    turns.charge(leaf, path, message.info.payload->size());
    if (start) turns.started(leaf, clock.boot_ms());
    ids.push_back(message.info.id);
  }
  return ids;
}

Model::Outlook Model::outlook(std::string_view path) const {
  Outlook found{turns_at(path, true), 0};
  found.starting = found.ids.size();
  const std::set<MessageId> starting(found.ids.begin(), found.ids.end());
  for (const MessageId id : turns_at(path, false))
    if (!starting.contains(id)) found.ids.push_back(id);
  return found;
}

std::vector<MessageId> Model::ready(std::string_view path) const {
  std::vector<MessageId> ids = turns_at(path, false);
  std::vector<Message> limited;
  std::copy_if(messages.begin(), messages.end(), std::back_inserter(limited), [&](const auto& m) {
    return m.info.state == State::ready && is_below(m.info.tenant, path) &&
           turns_.is_blocked(m.info.tenant + "/");
  });
  std::sort(limited.begin(), limited.end(), [](const Message& a, const Message& b) {
    return a.info.tenant != b.info.tenant ? a.info.tenant < b.info.tenant : is_before(a, b);
  });
  for (const Message& each : limited) ids.push_back(each.info.id);
  return ids;
}

}  // namespace fq::test
