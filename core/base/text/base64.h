// base64 - RFC 4648 with padding, strict: no line breaks, no foreign characters, no loose end bits.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>

namespace fq {

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace fq
