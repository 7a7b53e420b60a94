// queue_checker - the live segment held against a rebuild from the journal.
//
// The segment is copied as it was at one moment (segment_copy.h), timers due by then fire in the copy, the
// journal is replayed up to the same point into private memory, and the two are compared. Turns, tokens and
// averages are not compared, because a rebuild starts them anew. Then the payloads beside the journal are
// read (blob_care.h).
#pragma once

// fq, this room.
#include "core/local/care/blob_care.h"
#include "core/local/care/journal_files.h"

namespace fq {

class QueueChecker : private Linked {
 public:
  QueueChecker(Link& link, BlobCare& blobs, JournalFiles& files)
      : Linked(link), blobs_(blobs), files_(files) {}

  /// Signals come through where nothing but its own memory is changed; `interrupt`, or null, ends it there.
  Result<Checked> check_all(Interrupt* interrupt);

 private:
  /// Of the journal: its oldest file, and the oldest that is needed for anything.
  struct Front {
    uint32_t oldest = 0, needed = 0;
  };
  Result<Front> front();
  bool lacks_file(uint32_t first, uint32_t end);
  static void forget_behind(uint64_t tail, const ScanResult& scan, std::vector<JournalDamage>& damage);
  static void find_early_end(std::span<const TableFile> files, const SegmentHeader& copied,
                             const ScanResult& scan, std::vector<JournalDamage>& damage);
  Result<void> find_unread(std::span<const TableFile> files, uint64_t tail, const ScanResult& scan,
                           std::vector<JournalDamage>& damage);
  Result<Checked> check_once(Interrupt* interrupt);
  Result<Checked> check_settled(Interrupt* interrupt);

  BlobCare& blobs_;
  JournalFiles& files_;
};

}  // namespace fq
