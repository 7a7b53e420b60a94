// fixture - an fq.toml of a few lines, and what is made of it or said about it.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/settings.h"
#include "core/policy/policy_file.h"
#include "tests/catch.h"

namespace fq::test {

inline Result<FilePolicy> parse(std::string_view toml, std::string_view queue = "mail") {
  FQ_TRY_SET(const PolicyFile file, PolicyFile::parse(toml, "fq.toml"));
  return file.for_queue(queue);
}

inline FilePolicy policy_of(std::string_view toml, std::string_view queue = "mail") {
  Result<FilePolicy> policy = parse(toml, queue);
  INFO(toml);
  if (!policy) FAIL(policy.error().text);
  return *policy;
}

inline Settings settings_of(std::string_view toml, std::string_view queue = "mail") {
  Settings settings;
  take_over(settings, without_lines(policy_of(toml, queue)).queue);
  return settings;
}

inline std::string fault_of(std::string_view toml) {
  const Result<FilePolicy> policy = parse(toml);
  INFO(toml);
  REQUIRE_FALSE(policy.ok());
  CHECK(policy.error().kind == ErrorKind::config);
  return policy.error().text;
}

inline bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace fq::test
