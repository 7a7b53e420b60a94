// schedules_scene - what tests of schedules have in common.
#pragma once

// Tests.
#include "tests/api/contract.h"

// An engine without schedules has nothing to keep of what follows.
#define WHERE_SCHEDULES_ARE(q) \
  ON_EVERY_ENGINE(q);          \
  if (q.door().schedules() == nullptr) return

namespace fq::test {

inline ScheduleDefinition every(const char* span, const char* name = "s") {
  ScheduleDefinition definition;
  definition.name = name;
  definition.spec = std::string("every ") + span;
  definition.message.payload = as_bytes("tick");
  return definition;
}

inline Schedules& schedules(QueueFixture& q) { return *q.door().schedules(); }

}  // namespace fq::test
