#include "core/base/host_name.h"

// System.
#include <unistd.h>

#include <array>

namespace fq {

std::string host_name() {
  std::array<char, kHostNameBytesMax + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace fq
