// cli11_oracle - what CLI11 makes of a command line, given the same option table.
//
// fq takes its words apart itself: building CLI11's objects costs a short command more than all else that it
// does. What a word means is nonetheless what everybody expects who knows CLI11's grammar, and this holds the
// two together.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"

namespace fq::test {

struct Taken {
  std::vector<std::pair<std::string, std::optional<std::string>>>
      given;  // long name and value, in their order
  std::vector<std::string> operands;
  bool operator==(const Taken&) const = default;
};

/// None where the line is refused.
std::optional<Taken> taken_by_cli11(const cli::Command& command, const std::vector<std::string>& words);

}  // namespace fq::test
