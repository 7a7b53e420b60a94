#include "core/engine/patched.h"

// System.
#include <algorithm>

namespace fq {

namespace {

void patch_tag(std::vector<Tag>& tags, const TagPatch& patch) {
  const auto found =
      std::find_if(tags.begin(), tags.end(), [&](const Tag& tag) { return tag.name == patch.name; });
  if (!patch.value) {
    if (found != tags.end()) tags.erase(found);
  } else if (found != tags.end()) {
    found->value = *patch.value;
  } else {
    tags.push_back({patch.name, *patch.value});
  }
}

}  // namespace

NewMessage patched(NewMessage message, const MessagePatch& patch) {
  message.payload = patch.payload.value_or(Bytes());
  if (patch.priority) message.priority = *patch.priority;
  if (patch.key) message.key = *patch.key;
  message.delay_ms = patch.delay_ms;
  message.at_wall_ms = patch.at_wall_ms;
  if (patch.attempts_max) message.attempts_max = *patch.attempts_max;
  if (patch.timeout_ms) message.timeout_ms = *patch.timeout_ms;
  if (patch.keep_ms) message.keep_ms = *patch.keep_ms;
  message.ttl_ms = patch.ttl_ms.value_or(std::nullopt);
  for (const TagPatch& tag : patch.tags) patch_tag(message.tags, tag);
  if (patch.command) message.command = *patch.command;
  return message;
}

}  // namespace fq
