// host_name - how this machine is called.
#pragma once

// System.
#include <string>

namespace fq {

inline constexpr size_t kHostNameBytesMax = 255;

/// "": nobody knows.
std::string host_name();

}  // namespace fq
