// notify_test - what systemd hears, and who hears nothing.

// System.
#include <filesystem>
// fq, below us.
#include "core/worker/process/notify.h"
// Tests.
#include "tests/worker/listener.h"

namespace fq::test {

using fq::worker::Notify;

namespace {

std::string path() {
  return std::filesystem::temp_directory_path() / ("fq-notify-" + std::to_string(::getpid()));
}
std::string abstract() { return "@fq-notify-" + std::to_string(::getpid()); }
std::string own_pid() { return std::to_string(::getpid()); }

}  // namespace

TEST_CASE("what is told arrives, at a path and at a name without a file") {
  for (const std::string& name : {path(), abstract()}) {
    INFO(name);
    const Listener systemd(name);
    const Notify notify(systemd.name(), "", "");
    notify.tell("READY=1");
    notify.tell("STOPPING=1");
    CHECK(systemd.heard() == "READY=1");
    CHECK(systemd.heard() == "STOPPING=1");
    CHECK(systemd.heard() == "");
  }
}

TEST_CASE("a watchdog is kept quiet twice as often as it asks, and never sooner") {
  const Listener systemd(abstract());
  Notify notify(systemd.name(), "3000000", own_pid());
  CHECK(notify.keep_alive(10'000) == 11'500);
  CHECK(systemd.heard() == "WATCHDOG=1");
  CHECK(notify.keep_alive(11'499) == 11'500);
  CHECK(systemd.heard() == "");
  CHECK(notify.keep_alive(11'500) == 13'000);
  CHECK(systemd.heard() == "WATCHDOG=1");
}

TEST_CASE("a watchdog of another process, of no number or of none is not ours") {
  const Listener systemd(abstract());
  for (const auto& [limit, pid] : {std::pair<std::string, std::string>{"3000000", "1"},
                                   {"", ""},
                                   {"0", ""},
                                   {"never", own_pid()},
                                   {"-1", own_pid()}}) {
    INFO(limit << " for " << pid);
    CHECK(Notify(systemd.name(), limit, pid).keep_alive(10'000) == kNever);
    CHECK(systemd.heard() == "");
  }
  CHECK(Notify(systemd.name(), "3000000", "").keep_alive(10'000) == 11'500);
  CHECK(Notify(systemd.name(), "1", "").keep_alive(10'000) == 10'001);
}

TEST_CASE("what it does is told when it has changed, and once a second at most") {
  const Listener systemd(abstract());
  Notify notify(systemd.name(), "", "");
  CHECK(notify.show("one", 10'000) == kNever);
  CHECK(systemd.heard() == "STATUS=one");
  CHECK(notify.show("one", 20'000) == kNever);
  CHECK(systemd.heard() == "");
  CHECK(notify.show("two", 20'000) == kNever);
  CHECK(systemd.heard() == "STATUS=two");
  CHECK(notify.show("three", 20'999) == 21'000);
  CHECK(systemd.heard() == "");
  CHECK(notify.show("four", 21'000) == kNever);
  CHECK(systemd.heard() == "STATUS=four");
}

TEST_CASE("where nobody listens nothing is said and nothing fails") {
  const std::string names[] = {"",
                               "/",
                               "@",
                               "relative",
                               "vsock:2:1234",
                               "/nowhere/at/all",
                               std::string(200, '/'),
                               "@" + std::string(107, 'x') + "y"};
  for (const std::string& name : names) {
    INFO(name);
    Notify notify(name, "", "");
    notify.tell("READY=1");
    CHECK(notify.show("one", 10'000) == kNever);
    CHECK(notify.keep_alive(10'000) == kNever);
  }
}

TEST_CASE("a listener that does not read is not waited for") {
  const Listener systemd(abstract());
  const Notify notify(systemd.name(), "", "");
  for (int i = 0; i < 2'000; ++i) notify.tell("READY=1");
  CHECK(systemd.heard() == "READY=1");
}

}  // namespace fq::test
