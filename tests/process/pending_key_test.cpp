// pending_key_test - a key is taken from a message that has ended by a push that is not applied yet, while what
// only old files tell is written down anew.

// System.
#include <fcntl.h>
// fq, below us.
#include "core/journal/journal.h"
#include "core/journal/read_record.h"
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

/// How often the journal tells, behind the push of `taker`, that `ended` has a key.
int times_told(const Spool& spool, MessageId ended, MessageId taker) {
  const int directory = ::open(spool.queue().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<Disk> disk = open_disk(directory, "");
  RecordDecoder decoder;
  bool is_taken = false;
  int told = 0;
  const auto look = [&](auto& body) {
    using Body = std::remove_cvref_t<decltype(body)>;
    if constexpr (std::is_same_v<Body, PushedReader>) is_taken = is_taken || body.first_id() == taker;
    if constexpr (std::is_same_v<Body, KeysRecord>) {
      for (const KeptKey& key : body.keys) told += is_taken && key.id == ended;
    }
    return Result<void>();
  };
  const Result<ScanResult> scan = scan_journal(*disk, [&](const ScannedRecord& record) {
    return decoder.read(record.header, record.body, Result<void>(), look);
  });
  REQUIRE(scan.ok());
  REQUIRE(is_taken);
  return told;
}

}  // namespace

TEST_CASE("what held a key is not told behind the push that takes it, and is not applied yet") {
  const Spool spool;
  const MessageId ended{std::stoull(spool.says({"push", "--unique", "k", "--payload=ended"}))};
  spool.says({"pop"});
  // So much has ended that compaction gains something.
  for (int i = 0; i < 10; ++i) spool.push(std::string(60'000, 'p'));
  spool.says({"pop", "-n", "10"});
  Child compacts = spool.start_stopping_at("keys.begun:1", {"compact"});
  REQUIRE(compacts.stopped());
  spool.fq_killed_at("push.committed:1",
                     {"push", "--unique", "k", "--unique-mode", "replace", "--payload=taker"});
  compacts.send(SIGCONT);
  CHECK(compacts.end().exit == 0);
  const auto live = spool.live();
  REQUIRE((live.size() == 1 && live.contains("taker")));
  CHECK(times_told(spool, ended, MessageId{live.at("taker").id}) == 0);
  spool.check_clean();
}

}  // namespace fq::test
