// help - the texts of --help, made from the option tables.
#pragma once

// System.
#include <string>
// fq, this room.
#include "cli/words/arguments.h"
#include "cli/words/command.h"

namespace fq::cli {

std::string help_of(const Command& command);
std::string overview();

/// A word that is no command: names it and what may have been meant.
Error unknown_command(std::string_view word);
/// The same of a whole line, whose command may stand further behind. Needs: line.command.
Error unknown_command(const CommandLine& line);

}  // namespace fq::cli
