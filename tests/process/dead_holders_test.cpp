// dead_holders_test - who holds what, told on a disk that has not one byte left, and where nobody can be
// seen.

// System.
#include <sys/socket.h>

#include <cstdio>
#include <cstring>
// Tests.
#include "tests/left_out.h"
#include "tests/process/small_disk.h"

namespace fq::test {

namespace {

/// Puts a descriptor into a socket: it stays open, and no process has it, until somebody reads there.
void put_into(int socket, int descriptor) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  char byte = 'd';
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  if (::sendmsg(socket, &message, 0) != 1) ::_exit(1);
}

}  // namespace

TEST_CASE("a dead worker's message that is kept by nobody who can be seen is not said to be the worker's") {
  const Spool spool;
  spool.push("m");
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0);
  const pid_t worker = ::fork();
  if (worker == 0) {
    const std::unique_ptr<Queue> queue = spool.door();
    const std::vector<MessageId> ids = {queue->lease({}).value().deliveries.at(0).id};
    put_into(ends[0], queue->hold_for_job(ids, std::nullopt).value().value());
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(worker, &status, 0) == worker);
  REQUIRE(status == 0);
  CHECK(contains(spool.says({"explain", "1"}), "held by what the job of a dead worker left behind"));
  CHECK(contains(spool.says({"show", "1", "--json"}), "\"holder\":null"));
  CHECK(contains(spool.says({"stats", "--json"}), "\"leased\":1"));
  for (const int end : ends) ::close(end);
  // What is left behind is not asked for at each look.
  const auto is_ready = [&] { return contains(spool.says({"show", "1", "--json"}), "\"state\":\"ready\""); };
  for (const auto closed = Clock_::now(); !is_ready();) REQUIRE(ms_since(closed) < 10'000);
}

TEST_CASE(
    "on a full disk too every look finds out that a worker was killed, and says nothing of it otherwise") {
  for (const std::vector<std::string>& look : std::vector<std::vector<std::string>>{
           {"stats", "--json"}, {"explain", "1", "--json"}, {"show", "1", "--json"}, {"peek", "--json"}}) {
    INFO(look[0]);
    const Spool beside;
    SmallDisk disk(beside, "size=16m,nr_inodes=40");
    if (!disk.mounted()) {
      leave_out("a full disk needs root, for a tmpfs");
      return;
    }
    const Spool spool(disk.path() + "/spool");
    spool.push("m");
    Child worker = spool.start({"worker", "--", "sleep", "1000"});
    const auto leased = [&] { return contains(spool.says({"stats", "--json"}), "\"leased\":1"); };
    const auto start = Clock_::now();
    while (!leased()) REQUIRE(ms_since(start) < 10'000);
    const std::string pid = std::to_string(worker.pid());
    while (spool.fq({"push", "--payload=" + std::string(60'000, 'x')}).exit == 0) disk.fill();
    disk.fill();
    disk.take_inodes();
    worker.killed();
    // Its job is killed with it, a moment later: until then that is the holder.
    std::string said;
    for (const auto killed = Clock_::now(); ms_since(killed) < 10'000;) {
      said = spool.says(look);
      CHECK_FALSE(contains(said, "\"holder\":" + pid));
      if (!contains(said, "\"leased\":1") && !contains(said, "\"state\":\"leased\"")) break;
    }
    INFO(said);
    CHECK_FALSE(contains(said, "\"leased\":1"));
    CHECK_FALSE(contains(said, "\"state\":\"leased\""));
    CHECK(spool.fq({"check"}).exit == 0);
    CHECK(disk.free_bytes() == 0);
  }
}

}  // namespace fq::test
