// help - the texts of --help, made from the option tables.
#pragma once

// System.
#include <string>
// fq, this room.
#include "cli/words/command.h"

namespace fq::cli {

std::string help_of(const Command& command);
std::string overview();

/// A word that is no command: names it and what may have been meant.
Error unknown_command(std::string_view word, bool misplaced_option = false);

}  // namespace fq::cli
