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

TEST_CASE("a schedule's command for the shell may begin with a dash") {
  using Words = std::vector<std::string>;
  const auto command = [](const std::string& text) {
    const FilePolicy policy =
        policy_of("[queue.mail.schedule.s]\nspec = \"@daily\"\nshell = \"" + text + "\"\n");
    const std::vector<ScheduleDefinition> schedules = schedules_of(policy);
    const auto& argv = schedules.at(0).message.command->argv;
    return Words(argv.begin(), argv.end());
  };
  CHECK(command("cat") == Words{"sh", "-c", "cat"});
  CHECK(command("-x run") == Words{"sh", "-c", "--", "-x run"});
}

TEST_CASE("what no engine takes of a schedule is a fault of the file, with its line") {
  const auto fault = [](std::string_view lines) {
    return fault_of("[queue.mail.schedule.s]\nspec = \"@daily\"\n" + std::string(lines));
  };
  const auto word = [](size_t bytes) { return '"' + std::string(bytes, 'x') + '"'; };
  CHECK(fault("payload = \"x\"\nargv = [\"\"]\n") ==
        "fq.toml:4: argv: its first word, the command, is empty");
  CHECK(fault("argv = [\"a\", \"b\\u0000\"]\n") == "fq.toml:3: argv: must be without a NUL");
  CHECK(fault("shell = \"a\\u0000\"\n") == "fq.toml:3: argv: must be without a NUL");
  CHECK(fault("argv = [\"a\"]\ncwd = \"b\"\n") == "fq.toml:4: cwd: must be an absolute path");
  CHECK(fault("argv = [\"a\"]\ncwd = \"/b\\u0000\"\n") == "fq.toml:4: cwd: must be without a NUL");
  CHECK(fault("argv = [\"a\"]\nenv = [\"A\"]\n") == "fq.toml:4: env: 'A' is not NAME=VALUE");
  CHECK(fault("argv = [\"a\"]\nenv = [\"A=\\u0000\"]\n") == "fq.toml:4: env: must be without a NUL");
  CHECK(says(fault("argv = [\"a\", " + word(70'000) + "]\n"), "fq.toml:3: command: its arguments and"));
  CHECK(says(fault("shell = " + word(kCommandBytesMax) + "\n"), "fq.toml:3: command: its arguments and"));
  CHECK(says(fault("payload = " + word(kInlinePayloadBytesMax + 1) + "\n"), "fq.toml:3: payload: has 65537"));
  CHECK(fault("payload = \"x\"\ntags = { a = \"b\\u0000\" }\n") ==
        "fq.toml:4: tags: the value of 'a' must be without a NUL");
  CHECK(says(fault("payload = \"x\"\ntags = { a = " + word(kTagBytesMax) + " }\n"), "fq.toml:4: tags: have"));
  const std::string far = "@daily" + std::string(kScheduleSpecBytesMax, ' ');
  CHECK(says(fault_of("[queue.mail.schedule.s]\npayload = \"x\"\nspec = \"" + far + "\"\n"),
             "fq.toml:3: schedule: has 261 characters, the limit is 255"));
  policy_of("[queue.mail.schedule.s]\nspec = \"@daily\"\nargv = [\"a\", " + word(kCommandBytesMax - 6) +
            "]\n");
}

TEST_CASE("a schedule's payload is one that its queues take") {
  const std::string schedule =
      "schedule.s]\nspec = \"@daily\"\npayload = \"" + std::string(1025, 'x') + "\"\n";
  const std::string small = "max_payload = \"1KiB\"\n", large = "max_payload = \"2KiB\"\n";
  CHECK(fault_of("[queue.mail]\n" + small + "[queue.mail." + schedule) ==
        "fq.toml:5: payload: has 1025 bytes, more than max_payload = \"1KiB\" of line 2");
  // Whatever the queue's name, and for the one queue that both are for.
  CHECK(says(fault_of("[queue.\"*\"." + schedule + "[queue.other]\n" + small), "fq.toml:3: payload: has"));
  const std::string crossed = "[queue.\"m*\"." + schedule + "[queue.\"*l\"]\n" + small;
  CHECK(says(fault_of(crossed), "fq.toml:3: payload: has"));
  policy_of(crossed, "mouse");
  policy_of("[queue.\"*\"]\n" + small + "[queue.mail]\n" + large + "[queue.mail." + schedule);
}

}  // namespace fq::test
