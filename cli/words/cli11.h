// cli11 - CLI11 without the start-up of <iostream>.
//
// CLI11 includes <iostream>, which sets up eight streams and a locale before main in every program that
// holds it: a tenth of the life of a short command. fq never lets CLI11 print, so the two streams that
// CLI11 names are only declared here. Include this and never <iostream> or <CLI/CLI.hpp>.
#pragma once

// System.
#include <istream>
#include <ostream>
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_IOSTREAM)
#define _GLIBCXX_IOSTREAM 1
namespace std {
extern istream cin;
extern ostream cout;
extern ostream cerr;
}  // namespace std
#endif
#include <CLI/CLI.hpp>
