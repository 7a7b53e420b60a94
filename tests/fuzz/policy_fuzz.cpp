// policy_fuzz - fq.toml: a policy whose values are read back from their own text, or a fault with its line.

// fq, below us.
#include "core/policy/policy_file.h"
#include "core/policy/policy_value.h"
#include "core/base/assert.h"
#include "core/base/bytes.h"

using namespace fq;

namespace {

void check(const std::vector<FileValue>& values) {
  for (const FileValue& value : values) {
    const PolicyKeySpec* spec = spec_of(value.value.key);
    FQ_ASSERT(spec != nullptr);
    const auto again = parse_policy_value(*spec, policy_value_text(value.value));
    FQ_ASSERT(again.ok());
    FQ_ASSERT(*again == value.value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = PolicyFile::parse(as_text(std::as_bytes(std::span(data, size))), "fq.toml");
  if (!file.ok()) {
    FQ_ASSERT(file.error().text.find("fq.toml:") == 0);
    return 0;
  }
  const auto policy = file->for_queue("jobs");
  if (!policy.ok()) return 0;
  check(policy->queue);
  for (const FileRule& rule : policy->tenants) check(rule.values);
  for (const FileRule& rule : policy->pools) check(rule.values);
  return 0;
}
