// editor - a text in the editor of the person who types, in a file of its own.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// $VISUAL, else $EDITOR, else at a terminal vi. ErrorKind::usage, of `object`: there is none.
Result<std::string> editor_command(std::string_view object);

/// Runs it as git does: words of a shell, with the file behind them. Its status as waitpid tells it.
Result<int> run_editor(const std::string& command, const std::string& path);
/// "by signal 9" or "with 3".
std::string end_of_editor(int status);

/// "": there is none.
Result<std::string> read_text_file(const std::string& path);

}  // namespace fq::cli
