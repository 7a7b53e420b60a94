// main - the process around a command: signals, descriptors, file mode, bugs and exceptions.
//
// Runs the command with signals blocked (see
// cli/terminal/signals.h), so that nothing ends it half-way, and makes nothing that others can read.

// System.
#include <unistd.h>

#include <exception>
#include <new>
#include <string>
// fq, below us.
#include "core/base/assert.h"
// fq, this room.
#include "cli/words/exit_code.h"
#include "cli/terminal/input.h"
#include "cli/terminal/output.h"
#include "cli/session/run.h"
#include "cli/terminal/signals.h"

namespace {

using namespace fq::cli;

void on_bug(const char* what, const char* file, int line) {
  say(std::string(file) + ":" + std::to_string(line) + ": a bug in fq: '" + what +
      "' does not hold; please report it");
  ::_exit(number(Exit::bug));
}

Exit run_guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    say("memory: not enough of it; raise the limit (ulimit -v) or try later");
    return Exit::later;
  } catch (const std::exception& error) {
    say(std::string("a bug in fq: ") + error.what() + "; please report it");
    return Exit::bug;
  }
}

}  // namespace

#ifdef FQ_STATIC
/// Replaces the C library's, which before main asks /proc/self/exe where the program lies, for libraries that
/// it might load from beside it: 24 us. fq loads none.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" char* _dl_get_origin() { return reinterpret_cast<char*>(-1); }
#endif

int main(int argc, char** argv) {
  block_signals();
  explain_disk_faults();
  make_nothing_for_others();
  hold_standard_descriptors();
  fq::set_bug_handler(on_bug);
  const Exit exit = run_guarded(argc, argv);
  deliver_pending_signals();
  return number(exit);
}
