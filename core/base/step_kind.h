// step_kind - the kind of a step of a job: a word that the journal, the door and people share.
#pragma once

// System.
#include <cstdint>
#include <string_view>

namespace fq {

/// On disk.
enum class StepKind : uint8_t {
  run = 1,    // a command, whose output is kept
  sleep = 2,  // until a time
  wait = 3,   // until messages have ended
  push = 4,   // a message
};
inline constexpr StepKind kLastStepKind = StepKind::push;

constexpr std::string_view name_of(StepKind kind) {
  constexpr std::string_view kNames[] = {"run", "sleep", "wait", "push"};
  return kNames[static_cast<uint8_t>(kind) - 1];
}

}  // namespace fq
