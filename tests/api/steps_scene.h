// steps_scene - verbs of steps, for the tests of what every engine must do with them.
#pragma once

// System.
#include <string>
#include <utility>
#include <vector>
// Tests.
#include "tests/api/contract.h"

// An engine without steps has nothing to keep of what follows.
#define WHERE_STEPS_ARE(q) \
  ON_EVERY_ENGINE(q);      \
  if (q.door().steps() == nullptr) return

namespace fq::test {

inline Steps& steps(QueueFixture& q) { return *q.door().steps(); }

/// What it put out before, or "run" where it is to be run, or why not.
inline std::string begin(QueueFixture& q, const Delivery& job, const char* name) {
  Result<StepBegin> begun = steps(q).begin(job.receipt, name, nullptr);
  if (!begun.ok()) return begun.error().kind == ErrorKind::usage ? "usage" : "refused";
  if (is_refused(begun->receipt)) return "stale";
  return begun->output ? "kept " + *begun->output : "run";
}

inline SettleStatus keep(QueueFixture& q, const Delivery& job, const std::string& name,
                         std::string_view output) {
  const Result<SettleStatus> kept = steps(q).keep(job.receipt, name, as_bytes(output));
  INFO((kept.ok() ? "" : kept.error().text));
  REQUIRE(kept.ok());
  return *kept;
}

/// A message whose job has kept these, and gave it back.
inline MessageId push_with_steps(QueueFixture& q,
                                 const std::vector<std::pair<std::string, std::string>>& steps) {
  const MessageId id = q.push("t", "m");
  const Delivery job = q.lease();
  for (const auto& [name, output] : steps) CHECK(keep(q, job, name, output) == SettleStatus::ok);
  q.release(job);
  return id;
}

inline ErrorKind refusal(QueueFixture& q, const Delivery& job, const std::string& name,
                         std::string_view output) {
  const Result<SettleStatus> kept = steps(q).keep(job.receipt, name, as_bytes(output));
  REQUIRE(!kept.ok());
  return kept.error().kind;
}

inline std::string names(QueueFixture& q, MessageId id) {
  const auto all = steps(q).list(id).value();
  if (!all) return "none";
  std::string text;
  for (const StepInfo& step : *all) text += step.name + " ";
  return text;
}

}  // namespace fq::test
