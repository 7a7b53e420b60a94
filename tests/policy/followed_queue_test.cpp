#include "core/policy/followed_queue.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/catch.h"

using namespace fq;

namespace {

/// A spool with an fq.toml, and a program that pushes into its queue "mail".
class Program {
 public:
  Program() { REQUIRE(::mkdtemp(spool_.data()) != nullptr); }
  ~Program() { std::filesystem::remove_all(spool_); }

  void write(const std::string& toml) const { std::ofstream(spool_ + "/fq.toml") << toml; }
  void write_limit(int messages) const {
    write("[queue.mail]\nmax_messages = " + std::to_string(messages) + "\n");
  }
  Result<FollowedQueue> try_open() const { return FollowedQueue::open({spool_, "mail"}, {.create = true}); }
  FollowedQueue open() const {
    Result<FollowedQueue> queue = try_open();
    if (!queue) FAIL(queue.error().text);
    return std::move(queue).value();
  }
  std::vector<std::string> queues() const { return list_queues(spool_).value(); }

 private:
  std::string spool_ = "/tmp/fq-followed.XXXXXX";
};

/// Why a push was refused; it was not where the text is empty.
Error pushed(FollowedQueue& queue) {
  NewMessage message;
  const Result<PushReply> reply = queue->push({&message, 1});
  return reply ? Error{} : reply.error();
}

}  // namespace

TEST_CASE("a queue that follows fq.toml has its limit from the first push, a changed one from the next") {
  const Program program;
  program.write_limit(1);
  FollowedQueue queue = program.open();
  CHECK(pushed(queue).text.empty());
  const Error refused = pushed(queue);
  CHECK(refused.text ==
        "queue 'mail': has 1 message, the limit is 1 (max_messages); try again when some are done");
  CHECK(refused.could_wait);
  program.write_limit(10);
  CHECK(pushed(queue).text.empty());
  program.write_limit(2);
  CHECK_FALSE(pushed(queue).text.empty());
  CHECK_FALSE(queue.fault());
}

TEST_CASE("while fq.toml cannot be used the last good one holds, and the queue that follows it says why") {
  const Program program;
  program.write_limit(2);
  FollowedQueue queue = program.open();
  program.write("[queue.mail]\nmax_messages = \"many\"\n");
  CHECK(pushed(queue).text.empty());
  REQUIRE(queue.fault());
  CHECK(queue.fault()->kind == ErrorKind::config);
  CHECK(pushed(queue).text.empty());
  CHECK_FALSE(pushed(queue).text.empty());
  CHECK(program.open().fault());
  program.write("");
  CHECK(pushed(queue).text.empty());
  CHECK_FALSE(queue.fault());
}

TEST_CASE("a queue that follows fq.toml is not made while that cannot be used") {
  const Program program;
  program.write("[queue.mail]\nmax_messages = \"many\"\n");
  const Result<FollowedQueue> queue = program.try_open();
  REQUIRE_FALSE(queue.ok());
  CHECK(queue.error().kind == ErrorKind::config);
  CHECK(program.queues().empty());
}
