// run_file - the output of one run of a job, where others read it while it runs: output/<id>.<delivery>.run.
//
// Of each channel the first bytes lie in the head, which is never written again, the rest in a ring. So the
// file has a bound, whatever the job writes, and the first and the last half of the bytes to keep are in it.
// Where the caller lives, it has read all that is overwritten: has_room says when its job is to wait for
// that. Others may find that a part is gone, and are told how much.
//
// R1  `written` bytes of a channel were written; those from `claimed` - ring (at least from the head) on are
//     there.
// R2  `claimed` is moved before the bytes of a ring are overwritten, `written` after the new ones are there.
// R3  The writer has a lock on the file until it dies or ends; only it moves these two, and `lost`.
//
// It is no part of the truth and never synced; a file without its magic was not made, or is not whole.
#pragma once

// System.
#include <array>
#include <atomic>
#include <memory>
// fq, below us.
#include "core/api/job_output.h"
#include "core/base/ids.h"
// fq, this room.
#include "core/local/files/jobs/calls.h"
#include "core/local/files/mapped_page.h"

namespace fq {

inline constexpr uint64_t kRunHeldBackBytes = 4 << 20;  // so much that its caller has not read: the job waits
inline constexpr uint64_t kRunOverrunBytes = 5 << 20;   // and so much of one that ended may come all the same

class RunFile {
 public:
  struct Name {
    MessageId id{};
    uint32_t delivery = 0;
  };
  /// Ends in ".run"; see name_in.
  static std::string path_of(const Name& name);
  /// Of a name in output/; none: it is none of ours.
  static std::optional<Name> name_in(std::string_view file_name);
  /// A caller that lives has yet to read it. Needs: its writer is dead.
  static bool is_awaited(Disk& disk, const Name& name, const Calls& calls);
  /// It has no writer, and no caller that lives.
  static bool is_forsaken(Disk& disk, const Name& name, const Calls& calls);

  /// To be written. `call` 0: it has no caller.
  static Result<std::unique_ptr<RunFile>> make(Disk& disk, const Name& name, uint64_t call,
                                               uint64_t bytes_max);
  /// To be read. Null: it is not there, or not whole yet.
  static Result<std::unique_ptr<RunFile>> open(Disk& disk, const Name& name);

  // For the writer.
  void write(Channel channel, std::string_view bytes);
  void close();
  /// The bytes that the caller has not read.
  uint64_t unread(Channel channel) const;

  // For readers.
  uint64_t call() const;
  bool is_over() const;
  bool has_writer() const;
  struct Piece {
    size_t bytes = 0;      // that were read
    uint64_t missing = 0;  // or so many are gone
  };
  /// The bytes at `position`; nothing: no more yet.
  Result<Piece> read(Channel channel, uint64_t position, MutableBytes to) const;
  uint64_t written(Channel channel) const;
  /// The bytes that its writer could not keep, behind all that there is.
  uint64_t lost(Channel channel) const;
  /// The caller has read all before it.
  void note_read(Channel channel, uint64_t position);

  // The part that is kept after the end.
  uint64_t kept_bytes(Channel channel) const;
  Gap gap(Channel channel) const;
  Result<void> read_kept(Channel channel, uint64_t from, MutableBytes to) const;

 private:
  struct Control;
  RunFile(std::unique_ptr<File> file, MappedPage page) : file_(std::move(file)), page_(std::move(page)) {}

  static Result<std::unique_ptr<RunFile>> make_held(Disk& disk, const std::string& path);
  Control& control() const;
  uint64_t offset_of(Channel channel, uint64_t position) const;
  /// From `position` on, before the ring or the head ends.
  uint64_t in_one_piece(uint64_t position) const;
  uint64_t first_there(Channel channel, uint64_t position) const;

  std::unique_ptr<File> file_;
  MappedPage page_;
  std::array<bool, 2> broken_ = {false, false};  // a write has failed: later bytes are lost
};

}  // namespace fq
