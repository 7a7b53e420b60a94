// queue_backup - a copy of a queue in use, as it was at one moment, made in another spool.
//
// The moment is where its journal ends when it is copied. Payloads beside the journal never change and are
// most of it: they are copied first, and those that came meanwhile beside the journal. Its files, and the
// payloads of messages that end, stay while `checking` is held, as they do for fq check; no other process
// waits for anything. Only where more ends meanwhile than is kept for that may a payload be gone that the
// journal speaks of: then it is copied again up to a later moment. What is told of ended messages is copied
// behind the journal, so each end of the moment is among it; one that came later says nothing of a message
// that lives in the copy.
#pragma once

// System.
#include <set>
#include <string>
#include <vector>
// fq, this room.
#include "core/local/care/journal_files.h"

namespace fq {

class QueueBackup : private Linked {
 public:
  /// Copies the queue that `link` is tied to. Needs: `to_spool` has no queue of its name.
  QueueBackup(Link& link, Location to, Clock& clock, Interrupt* interrupt)
      : Linked(link), to_(std::move(to)), clock_(clock), interrupt_(interrupt), files_(link) {}

  Result<void> make();
  /// The notices of the copy's own recovery, of damage in the original say.
  std::vector<std::string> take_notices() { return std::move(notices_); }

 private:
  Result<void> copy_moment();
  Result<bool> copy_journal();
  Result<bool> copy_directory(const std::string& directory);
  Result<bool> copy_names(const std::string& directory, const std::vector<std::string>& names);
  Result<void> copy_payloads();
  Result<void> copy_ended();
  Result<void> copy_rest();
  Result<void> empty_again();
  Result<bool> copy_file(const std::string& name, uint64_t bytes);
  Result<void> copy_bytes(const std::string& name, File& from, File& to, uint64_t bytes);
  Result<bool> begin_copy();
  Result<bool> fetch_payloads(const std::set<std::string>& named);

  const Location to_;
  Clock& clock_;
  Interrupt* interrupt_;
  JournalFiles files_;
  std::unique_ptr<Disk> copy_;
  std::set<std::string> went_;  // payloads that were gone when they were looked for
  std::vector<std::string> notices_;
};

}  // namespace fq
