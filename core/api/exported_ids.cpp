#include "core/api/exported_ids.h"

namespace fq {

namespace {

bool is_none(MessageId id) { return number(id) == 0; }

std::vector<MessageId> gather(const ExportedMessage& message, bool only_needed) {
  std::vector<MessageId> ids;
  for (const ExportedWait& wait : message.after) {
    const bool waits = !wait.closed && message.state != State::dead;
    if (waits || !only_needed) ids.push_back(wait.id);
  }
  ids.push_back(message.behind);
  for (const ExportedStep& step : message.steps) {
    ids.push_back(step.child);
    ids.insert(ids.end(), step.ids.begin(), step.ids.end());
  }
  std::erase_if(ids, is_none);
  return ids;
}

}  // namespace

std::vector<MessageId> named_by(const ExportedMessage& message) { return gather(message, false); }

std::vector<MessageId> needed_by(const ExportedMessage& message) { return gather(message, true); }

void rename_others(ExportedMessage& message, const std::function<MessageId(MessageId)>& there) {
  const auto rename = [&](MessageId& id) {
    if (!is_none(id)) id = there(id);
  };
  for (ExportedWait& wait : message.after) rename(wait.id);
  std::erase_if(message.after, [](const ExportedWait& wait) { return is_none(wait.id); });
  rename(message.behind);
  for (ExportedStep& step : message.steps) {
    rename(step.child);
    for (MessageId& id : step.ids) rename(id);
    std::erase_if(step.ids, is_none);
  }
}

}  // namespace fq
