// engines - of a program that links this engine alone: the local one.

// fq, this room.
#include "core/local/local_engine.h"

namespace fq {

std::span<const Engine* const> engines() {
  static constexpr LocalEngine local;
  static constexpr const Engine* all[] = {&local};
  return all;
}

}  // namespace fq
