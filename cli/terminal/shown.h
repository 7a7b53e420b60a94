// shown - text as a person sees it: safe on a terminal, as many columns wide as it says, cut where there is
// no room for all of it.
#pragma once

// System.
#include <cstddef>
#include <string>
#include <string_view>

namespace fq::cli {

/// Whether the locale's characters are UTF-8; else what is not ASCII is escaped in human views.
bool locale_shows_utf8();

/// For human views: one line, safe on a terminal.
std::string shown(std::string_view text);
/// The same, cut to about `columns` characters.
std::string shown_short(std::string_view text, size_t columns);
/// `text`, which may be seen as it is, cut likewise.
std::string cut_short(std::string_view text, size_t columns);

/// Columns that `text` takes on a terminal.
size_t columns_of(std::string_view text);
/// A text that was escaped for a terminal, cut in the middle to so many columns: names mostly differ at an
/// end. Neither a character nor an escape is taken apart.
std::string cut_middle(std::string_view shown, size_t columns);
/// The same at its end: contents are known by how they begin.
std::string cut_end(std::string_view shown, size_t columns);

}  // namespace fq::cli
