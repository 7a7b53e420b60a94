// door_operations - what is killed at every instruction: each operation of the engine, in a scene of its own.
#pragma once

// Tests.
#include "tests/crash/scene.h"

namespace fq::test {

/// What the short form does with an operation; the long form does everything with each.
enum class Short { nothing, kills, kills_and_pairs };

struct DoorOperation {
  const char* name;
  void (*prepare)(Scene& scene);
  /// In a process of its own, with the marks around what counts.
  void (*act)(Scene& scene);
  Short in_short_form = Short::kills;
};

const std::vector<DoorOperation>& door_operations();
/// And those of schedules.
std::vector<DoorOperation> with_steps(std::vector<DoorOperation> operations);
std::vector<DoorOperation> with_schedules(std::vector<DoorOperation> operations);

/// What the process does that comes after a death: it attaches, repairs, pushes and leases. The whole of it
/// lies between the marks.
void act_second(Scene& scene);

}  // namespace fq::test
