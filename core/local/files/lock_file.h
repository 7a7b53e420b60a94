// lock_file - `lock`: the processes attached to a queue, and the segment that is its own.
//
// Every attached process holds a shared flock on it for as long as it lives; an exclusive one is the proof
// that none is attached. flock and not fcntl: any close() in the process would lose the latter. The file is
// never unlinked while its queue exists. It also holds the fields by which a copied spool tells itself from
// its original (device, inode, nonce) and the generation, which a rebuild raises to stop leaders of a lost
// segment.
#pragma once

// System.
#include <vector>
// fq, below us.
#include "core/base/disk/disk.h"

namespace fq {

struct LockIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint8_t nonce[16] = {};
  uint64_t generation = 0;
};

class LockFile {
 public:
  /// Opens `name` in the queue's directory, making it where `create` says so.
  static Result<LockFile> open(Disk& disk, std::string_view name, bool create);

  enum class Mode { shared, exclusive };
  /// Takes the flock at once or not at all.
  Result<bool> try_lock(Mode mode);
  /// Takes it within the time; false when it did not come.
  Result<bool> lock(Mode mode, int64_t timeout_ms);
  void unlock();

  /// The identity that the file holds; none when it holds none, or one of another place (a copy).
  Result<bool> read(LockIdentity& identity) const;
  Result<void> write(const LockIdentity& identity);
  /// Needs: an identity was read or written. Fails (`io`) when it was raised since.
  Result<void> check_generation(uint64_t generation) const;

  /// Of the open file.
  uint64_t device() const { return file_->opened().device; }
  uint64_t inode() const { return file_->opened().inode; }
  /// Other processes that hold it.
  std::vector<int> holders() const;

 private:
  std::string object_;
  std::unique_ptr<File> file_;
};

}  // namespace fq
