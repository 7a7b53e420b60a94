// recorder - runs commands and writes down every change of files that they ask the kernel for.
//
// ptrace stops a command at each system call. Those that change names or contents below a directory go into a
// list, with their data, and are done to a Platter that began as a copy of the directory. What the command
// writes to standard output goes into the same list: from then on somebody may rely on it. The binary knows
// nothing of it, so it may be the one that is shipped. It sees another boot_id than everybody else, so that
// whoever opens one of the disks afterwards is past a reboot.
//
// A segment is mapped memory: of it the list knows only how long the file is. A power cut leaves no more.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// Tests.
#include "tests/fakes/platter.h"
#include "tests/process/real_fq.h"

namespace fq::test {

struct FileCall {
  enum class Kind { create, make_directory, rename, remove, write, lengthen, sync, sync_directory, answer };
  Kind kind{};
  std::string name;    // below the directory
  std::string to;      // rename
  uint64_t inode = 0;  // the Platter's
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string data;     // write, answer
  bool failed = false;  // sync

  std::string describe() const;
};

/// What goes wrong for one command, counted from 1; 0: nothing.
struct Mishap {
  int failed_sync = 0;   // this sync of a journal file answers EIO
  int failed_write = 0;  // this write to a journal file answers EIO, though all or any part may be there
  int failures = 1;      // so many in a row
  int killed_at = 0;     // killed before this change of a file
};

class Recorder {
 public:
  explicit Recorder(std::string directory) : directory_(std::move(directory)) { begin(); }

  /// False where the kernel lets nobody trace.
  static bool is_possible();

  /// Takes the directory as it stands for a disk on which everything is certain.
  void begin();
  Outcome run(const std::vector<std::string>& command, const Start& how, const Mishap& mishap = {});

  const Platter& base() const { return base_; }
  const std::vector<FileCall>& calls() const { return calls_; }
  static void apply(Platter& platter, const FileCall& call);

 private:
  class Tracee;
  void note(FileCall call);

  std::string directory_;
  Platter base_;
  Platter now_;
  std::map<uint64_t, uint64_t> numbers_;  // of inodes: the file system's, the Platter's
  std::vector<FileCall> calls_;
};

}  // namespace fq::test
