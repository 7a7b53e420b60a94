// other_queue - the queue of a spool that messages of the fixture's one are moved to, and how many bytes
// came.
#pragma once

// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

class OtherQueue {
 public:
  explicit OtherQueue(SpoolFixture& q) : journal_(q.path("../other/journal")) {
    OpenOptions options;
    options.create = true;
    options.clock = &q.clock;
    const std::filesystem::path spool = q.path("../..");
    queue_ = open_queue({spool.lexically_normal().string(), "other"}, options).value();
  }

  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t journal_bytes() const {
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(journal_)) bytes += file.file_size();
    return bytes;
  }
  void note_arrival(uint64_t bytes) { live_bytes_ += bytes; }
  void end_all() {
    Cursor from;
    do {
      const auto reply = queue_->mutate(Filter{}, Action::cancel, from, 1'000);
      REQUIRE(reply.ok());
      from = reply->next;
    } while (!from.text.empty());
    live_bytes_ = 0;
  }

 private:
  const std::string journal_;
  std::unique_ptr<Queue> queue_;
  uint64_t live_bytes_ = 0;
};

}  // namespace fq::test
