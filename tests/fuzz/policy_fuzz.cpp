// policy_fuzz - fq.toml: a policy whose values are read back from their own text, or a fault with its line.

// fq, below us.
#include "cli/policy/policy_file.h"
#include "cli/policy/policy_value.h"
#include "core/base/assert.h"
#include "core/base/bytes.h"

using namespace fq;

namespace {

void check(const std::vector<cli::FileValue>& values) {
  for (const cli::FileValue& value : values) {
    const cli::PolicyKeySpec* spec = cli::spec_of(value.value.key);
    FQ_ASSERT(spec != nullptr);
    const auto again = cli::parse_policy_value(*spec, cli::policy_value_text(value.value));
    FQ_ASSERT(again.ok());
    FQ_ASSERT(*again == value.value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = cli::PolicyFile::parse(as_text(std::as_bytes(std::span(data, size))), "fq.toml");
  if (!file.ok()) {
    FQ_ASSERT(file.error().text.find("fq.toml:") == 0);
    return 0;
  }
  const auto policy = file->for_queue("jobs");
  if (!policy.ok()) return 0;
  check(policy->queue);
  for (const cli::FileRule& rule : policy->tenants) check(rule.values);
  for (const cli::FileRule& rule : policy->pools) check(rule.values);
  return 0;
}
