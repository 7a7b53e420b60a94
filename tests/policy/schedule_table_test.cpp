// schedule_table_test - what is wrong with a schedule of fq.toml, told with its line.
#include "tests/policy/fixture.h"

namespace fq::test {

TEST_CASE("a fault of a schedule names the line that it is in") {
  const auto fault = [](std::string_view lines) {
    return fault_of("[queue.mail.schedule.s]\npayload = \"x\"\n" + std::string(lines));
  };
  CHECK(says(fault("missed = \"one\"\nspec = \"61 * * * *\"\n"), "fq.toml:4: schedule: minute: '61'"));
  CHECK(says(fault("spec = \"@daily\"\ntz = \"Foo/Bar\"\n"), "fq.toml:4: tz: 'Foo/Bar'"));
  CHECK(fault("spec = \"@daily\"\nmissed = \"never\"\n") ==
        R"(fq.toml:4: missed: must be "one", "all" or "skip")");
  CHECK(says(fault("spec = \"@daily\"\nenv = [\"A=1\"]\n"), "fq.toml:4: `env` and `cwd` go with"));
  CHECK(
      says(fault("spec = \"@daily\"\ncolour = \"x\"\n"), "fq.toml:4: unknown key 'colour'; write spec, tz,"));
  CHECK(fault("") == "fq.toml:1: a schedule needs `spec`, as in \"30 3 * * *\"");
}

TEST_CASE("a schedule's priority or sort key goes with the order of its queues") {
  const std::string spec = "spec = \"@daily\"\npayload = \"x\"\n";
  const std::string urgent = "schedule.s]\npriority = 3\n" + spec;
  const std::string keyed = "schedule.s]\nkey = \"k1\"\n" + spec;
  CHECK(fault_of("[queue.mail]\norder = \"key\"\n[queue.mail." + urgent) ==
        "fq.toml:4: priority: would be ignored by order = \"key\" of line 2");
  CHECK(fault_of("[queue.mail]\norder = \"fifo\"\n[queue.mail." + urgent) ==
        "fq.toml:4: priority: would be ignored by order = \"fifo\" of line 2");
  CHECK(fault_of("[queue.mail." + keyed) ==
        "fq.toml:2: key: would be ignored by order = \"priority\", the default");
  CHECK(says(fault_of("[queue.\"*\"." + urgent + "[queue.other]\norder = \"key\"\n"), "fq.toml:2: priority"));
  CHECK(says(fault_of("[queue.\"*\"]\norder = \"fifo\"\n[queue.other." + keyed), "fq.toml:4: key"));
  policy_of("[queue.mail." + urgent);
  policy_of("[queue.mail]\norder = \"key\"\n[queue.mail." + keyed);
  policy_of("[queue.mail]\norder = \"key\"\n[queue.other." + urgent);
  policy_of("[queue.mail]\norder = \"fifo\"\n[queue.mail.schedule.s]\npriority = 0\n" + spec);
  // The most exact table of a name is all of it.
  policy_of("[queue.\"*\"." + urgent + "[queue.mail]\norder = \"key\"\n[queue.mail.schedule.s]\n" + spec);
  // Each of the two tables makes sense; only the queue that both are for does not.
  const std::string crossed = "[queue.\"m*\"." + urgent + "[queue.\"*l\"]\norder = \"fifo\"\n";
  CHECK(says(fault_of(crossed), "fq.toml:2: priority"));
  policy_of(crossed, "mouse");
}

TEST_CASE("a schedule has one command, and that is one") {
  const auto fault = [](std::string_view lines) {
    return fault_of("[queue.mail.schedule.s]\nspec = \"@daily\"\n" + std::string(lines));
  };
  CHECK(fault("payload = \"x\"\nargv = []\n") ==
        "fq.toml:4: argv: is empty; write the command, or leave it out");
  CHECK(fault("argv = []\nshell = \"true\"\n") ==
        "fq.toml:3: `argv` does not go with `shell`; write one of them");
  CHECK(says(fault("shell = \"true\"\nargv = [\"false\"]\n"), "fq.toml:4: `argv`"));
  policy_of("[queue.mail.schedule.s]\nspec = \"@daily\"\npayload = \"x\"\nshell = \"cat\"\n");
}

}  // namespace fq::test
