// foreground - a program that has the terminal until it ends: an editor, or another fq that top runs.
//
// The terminal's signals go to both: Ctrl-C is the program's alone while it runs, and where it stops, so do
// we, or the shell would not have the terminal back. TERM and HUP, which come to us alone, wait for its end:
// an editor that has what somebody typed is not ended. Where they are handed on they are ours too,
// afterwards.
#pragma once

// System.
#include <span>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

enum class Endings { wait, handed_on };

/// The program's status, as waitpid tells it. `path` is its file, `name` what it is called where that fails.
/// Needs: signals are blocked.
Result<int> run_in_foreground(const std::string& path, std::span<const std::string> words,
                              std::string_view name, Endings endings);

}  // namespace fq::cli
