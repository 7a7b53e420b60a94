// event_stream - the journal read as it lies, record by record, while others write it.
//
// Read by large blocks, from the files up to where the ring begins and from the ring behind that, never past
// the last commit. The state lock is held to find a block's place only. The records' seals and checksums
// prove a block, so a file that is given back or used again meanwhile shows as bytes that do not parse: then
// its place is looked up anew. A file that is gone and was not given back is a loss: it is told, and passed.
// Between two blocks signals come through: a search for little may read all there is.
#pragma once

// System.
#include <memory>
// fq, this room.
#include "core/local/look/event_log.h"

namespace fq {

/// Owns where the reading stands (EventLog), and what has to be told of what could not be read.
class EventStream : private Linked {
 public:
  explicit EventStream(Link& link) : Linked(link) {}

  bool begun() const { return log_ != nullptr; }
  EventLog& log() { return *log_; }
  void begin(std::unique_ptr<EventLog> log) { log_ = std::move(log); }
  std::vector<std::string>& notices() { return notices_; }

  /// The record at the log's position, or the next one that can be read. False: the stream ends there.
  Result<bool> next(RecordHeader& header, Bytes& body);
  /// Visits the records between two positions until that returns false. The log stays as it is: another one
  /// reads, and what it cannot read is no loss of what is told.
  template <class Visit>
  Result<void> read_aside(uint64_t from, uint64_t to, Visit&& visit) {
    auto aside = std::make_unique<EventLog>();
    aside->position = from;
    aside->end = to;
    std::swap(log_, aside);
    std::vector<std::string> notices = std::exchange(notices_, {});
    Result<void> read = [&]() -> Result<void> {
      RecordHeader header;
      Bytes body;
      for (bool more = true; more; log_->position += padded(header.bytes)) {
        FQ_TRY_SET(more, next(header, body));
        if (!more || !visit(header, body)) return {};
      }
      return {};
    }();
    std::swap(log_, aside);
    notices_ = std::move(notices);
    return read;
  }

 private:
  Result<bool> place_block(FilePlace& place, uint64_t& ring_start);
  Result<void> pass_lost(const FileKey& key, const Error& why);
  Result<bool> load();
  Result<void> skip_unreadable();

  std::unique_ptr<EventLog> log_;
  std::vector<std::string> notices_;
};

}  // namespace fq
