// size - amounts of bytes as people write them: `64KiB`, `10MB`, `1.5GiB`, `100B`; always with a unit.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// None when `text` is no size, overflows, or is no whole number of bytes.
std::optional<uint64_t> parse_size(std::string_view text);

/// For people: exact where a binary unit divides it ("64KiB"), else rounded ("1.4MiB").
std::string format_size(uint64_t bytes);

}  // namespace fq
