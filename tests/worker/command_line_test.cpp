// command_line_test - the words and variables that a job starts with.

// System.
#include <algorithm>
// fq, below us.
#include "core/worker/process/command_line.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

using Words = std::vector<std::string>;
using namespace std::string_literals;

Words words(const Words& command, const std::string& payload, const std::string& tenant = "acme") {
  Options options;
  options.command = command;
  return words_for(options, delivery(17, tenant), payload).value();
}
std::string fault(const Words& command, const std::string& payload) {
  Options options;
  options.command = command;
  const auto made = words_for(options, delivery(17), payload);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().kind == ErrorKind::bad_data);
  return made.error().text;
}
Words environment_of(const Words& ours, const Delivery& one) {
  Options options;
  options.spool = "/spool";
  options.environment = ours;
  return Environment(options).for_message("jobs", one, 3);
}
/// All of that name: "NAME=value", joined.
std::string variable(const Words& environment, const std::string& name) {
  std::string found;
  for (const std::string& each : environment) {
    if (each.starts_with(name + "=")) found += each;
  }
  return found;
}

}  // namespace

TEST_CASE("marks stand for payload, id and tenant, inside of their words") {
  CHECK(words({"do", "-x={}", "{id}-{tenant}", "{}{}"}, "p") == Words{"do", "-x=p", "17-acme", "pp"});
  CHECK(words({"do", "{}"}, "") == Words{"do", ""});
}

TEST_CASE("what is no mark stays as it is") {
  const Words plain = {"do", "{ID}", "{", "}", "{id", "{ }", "{payload}", "", "$(x)"};
  CHECK(words(plain, "p") == plain);
  CHECK(words({"do", "{{}}", "{{id}"}, "p") == Words{"do", "{p}", "{17"});
}

TEST_CASE("what was put in is never read again") {
  CHECK(words({"do", "{}{id}"}, "{id}{}{tenant}") == Words{"do", "{id}{}{tenant}17"});
  CHECK(words({"do", "{tenant}"}, "p", "{}{id}") == Words{"do", "{}{id}"});
  // Two halves of a mark do not become one.
  CHECK(words({"do", "{{}id}"}, "") == Words{"do", "{id}"});
}

TEST_CASE("a payload that cannot be a word is bad data, and only where it is asked for") {
  CHECK(fault({"do", "{}"}, "a\0b"s).find("NUL") != std::string::npos);
  CHECK(words({"do", "{id}"}, "a\0b"s) == Words{"do", "17"});
  // The kernel's limit of one word, with its NUL.
  CHECK(words({"do", "{}"}, std::string(131'071, 'x'))[1].size() == 131'071);
  CHECK(fault({"do", "{}"}, std::string(131'072, 'x')).find("too long") != std::string::npos);
  CHECK(fault({"do", "-{}"}, std::string(131'071, 'x')).find("too long") != std::string::npos);
}

TEST_CASE("a shell gets its one text, whatever is in it") {
  Options options;
  options.shell = true;
  options.command = {"echo {id}"};
  CHECK(words_for(options, delivery(17), "a\0b"s).value() == Words{"/bin/sh", "-c", "--", "echo {id}"});
}

TEST_CASE("a stored command is run as it was stored") {
  Delivery one = delivery(17);
  one.command = JobCommand{{"do", "{}", "{id}"}, "/", {}};
  CHECK(words_for(Options{}, one, "p").value() == Words{"do", "{}", "{id}"});
}

TEST_CASE("a job's variables say what its message is") {
  Delivery one = delivery(17, "acme/reports");
  one.attempt = 2;
  one.priority = -7;
  one.tags = {{"kind", "a=b"}, {"empty", ""}};
  const Words all = environment_of({"HOME=/root"}, one);
  for (const char* expected :
       {"HOME=/root", "FQ_ID=17", "FQ_QUEUE=jobs", "FQ_TENANT=acme/reports", "FQ_RECEIPT=17.1",
        "FQ_ATTEMPT=2", "FQ_MAX_ATTEMPTS=5", "FQ_PRIORITY=-7", "FQ_WORKER_SLOT=3", "FQ_SPOOL=/spool",
        "FQ_TAG_kind=a=b", "FQ_TAG_empty=", "FQ_PUSHED_AT=1970-01-01T00:00:00.000Z"}) {
    INFO(expected);
    CHECK(std::count(all.begin(), all.end(), expected) == 1);
  }
}

TEST_CASE("a worker in a job does not pass on its own message, nor what systemd tells it") {
  const Words all = environment_of(
      {"FQ_ID=1", "FQ_RECEIPT=1.1", "FQ_TAG_old=1", "FQ_BATCH=2", "FQ_SPOOL=/x", "FQ_PAYLOAD=p",
       "NOTIFY_SOCKET=@s", "WATCHDOG_USEC=1", "WATCHDOG_PID=1", "FQ_OTHER=kept", "FQ_IDS=kept"},
      delivery(17));
  CHECK(variable(all, "FQ_ID") == "FQ_ID=17");
  CHECK(variable(all, "FQ_SPOOL") == "FQ_SPOOL=/spool");
  for (const char* gone : {"FQ_TAG_old", "FQ_BATCH", "FQ_PAYLOAD", "NOTIFY_SOCKET", "WATCHDOG_USEC"}) {
    CHECK(variable(all, gone) == "");
  }
  CHECK(variable(all, "FQ_OTHER") + variable(all, "FQ_IDS") == "FQ_OTHER=keptFQ_IDS=kept");
}

TEST_CASE("a stored variable replaces the worker's, and hides nothing of the message") {
  Delivery one = delivery(17);
  one.command = JobCommand{{"do"}, "/", {"HOME=/stored", "FQ_ID=1", "FQ_TAG_x=1", "EMPTY=", "HOMES=2"}};
  const Words all = environment_of({"HOME=/worker", "EMPTY=full"}, one);
  CHECK(variable(all, "HOME") == "HOME=/stored");
  CHECK(variable(all, "EMPTY") == "EMPTY=");
  CHECK(variable(all, "HOMES") == "HOMES=2");
  CHECK(variable(all, "FQ_ID") == "FQ_ID=17");
  CHECK(variable(all, "FQ_TAG_x") == "");
}

TEST_CASE("a command for many knows their number and tenant, and no one message") {
  Options options;
  options.environment = {"FQ_ID=1", "FQ_TENANT=other"};
  const Environment environment(options);
  const Words batch = environment.for_many("jobs", "acme", 7, 1);
  CHECK(variable(batch, "FQ_BATCH") + variable(batch, "FQ_TENANT") == "FQ_BATCH=7FQ_TENANT=acme");
  CHECK(variable(batch, "FQ_ID") + variable(batch, "FQ_RECEIPT") == "");
  const Words stream = environment.for_many("jobs", "", 0, 1);
  CHECK(variable(stream, "FQ_BATCH") + variable(stream, "FQ_TENANT") == "");
}

}  // namespace fq::test
