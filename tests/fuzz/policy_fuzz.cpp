// policy_fuzz - fq.toml: settings, or a fault with its line.

// fq, below us.
#include "cli/policy_file.h"
#include "core/base/assert.h"
#include "core/base/bytes.h"

using namespace fq;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto settings = cli::parse_policy(as_text(std::as_bytes(std::span(data, size))), "fq.toml", "jobs");
  if (!settings.ok()) FQ_ASSERT(settings.error().text.find("fq.toml") != std::string::npos);
  return 0;
}
