// catch - Catch2, whichever of version 2 and 3 is installed.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

// System.
#include <cstdio>
// fq, below us.
#include "core/base/assert.h"

namespace fq::test {

/// Which assertion it was is said before the signal that ends the program: of a long history nothing else
/// tells.
inline const bool bugs_are_told = [] {
  set_bug_handler([](const char* what, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: asserted: %s\n", file, line, what);
  });
  return true;
}();

}  // namespace fq::test
