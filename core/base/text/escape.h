// escape - foreign text made harmless for the place where it is shown.
//
// escape_terminal: one line on a screen or in an error; control characters, ESC, DEL, C1, characters that
// turn the writing direction or are invisible, and bytes that are no UTF-8 become visible escapes.
// escape_field: the reversible form of `pop --lease` (`printf %b` undoes it).
// quote_shell: one word for a POSIX shell. shell_word: the same as a person may see it.
#pragma once

// System.
#include <string>
#include <string_view>

namespace fq {

struct EscapeOptions {
  bool ascii_only = false;      // also escape what is not ASCII (the locale cannot show it)
  bool keep_newlines = false;   // newline and tab stay: a whole payload on a terminal
  bool keep_backslash = false;  // no doubling: for text that is read, not undone
};

std::string escape_terminal(std::string_view text, EscapeOptions options = {});

/// `text` as a person sees it in a sentence: in single quotes, cut after about 80 bytes. Not escaped: that
/// is done once, where the sentence is printed.
std::string in_quotes(std::string_view text);

/// Backslash, tab and newline as `\\`, `\t` and `\n`; other control characters and bytes that are no UTF-8
/// as `\0OOO`.
std::string escape_field(std::string_view text);

/// In single quotes, which only a quote itself interrupts. Needs: no NUL in it.
std::string quote_shell(std::string_view text);

/// One word that a shell reads as `text`, with nothing in it that escape_terminal would change: bare, or in
/// quotes, or as $'...' (bash, zsh, ksh), where a byte that may not be seen is octal. Needs: no NUL in it.
std::string shell_word(std::string_view text, bool ascii_only);

}  // namespace fq
