// assert - a bug stops the process, always, also in a release build.
//
// Core does not print: the handler does. cli installs one that says one line and leaves with 70;
// without one the process aborts. A process that stops inside a transaction is as harmless as one that
// was killed there: the next holder of the lock undoes its half-change.
#pragma once

namespace fq {

using BugHandler = void (*)(const char* what, const char* file, int line);

void set_bug_handler(BugHandler handler);
[[noreturn, gnu::cold]] void report_bug(const char* what, const char* file, int line);

}  // namespace fq

#define FQ_ASSERT(condition) \
  (__builtin_expect(!!(condition), 1) ? void() : ::fq::report_bug(#condition, __FILE__, __LINE__))
