// spool_backup - a copy of a spool in use, in a directory that is a spool as soon as all of it is there.
//
// Until then what is copied lies below .unfinished, where no fq looks for queues: a copy that was broken off
// is a spool without any, and never one that lacks some. One rename at the end makes it one.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/descriptor.h"
// fq, this room.
#include "core/local/files/move_lock.h"

namespace fq {

class SpoolBackup {
 public:
  SpoolBackup(const std::string& spool, const BackupRequest& request, Clock& clock);

  /// Returns what a person should hear of the queues. After an error nothing of it is left.
  Result<std::vector<std::string>> make();

 private:
  Result<void> take_place();
  Result<void> check_place_is_empty() const;
  Result<void> check_place_is_outside() const;
  Result<void> copy_all();
  Result<void> copy_queue(const std::string& name);
  Result<void> give_back(const std::string& name);
  Result<void> finish_moves(const std::string& name, const MoveLock& held);
  Result<void> copy_policy();
  Result<void> make_it_a_spool();
  void undo();

  const BackupRequest request_;
  const std::string spool_, directory_;
  const std::string object_;  // the directory, as messages call it
  Clock& clock_;
  Descriptor place_{-1};
  bool made_ = false;  // the directory was not there
  std::vector<std::string> notices_;
};

}  // namespace fq
