// queue_directory - queues/<name> below the spool: found, made, judged, removed.
//
// A spool belongs to one user: another owner, or a directory that others may write to, is refused: of the
// queue in every command, of the spool and its queues/ when a queue is made. Where a queue may lie at all (no
// network file system, no hostile parent) is looked at when it is made or rebuilt.
#pragma once

// System.
#include <array>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/disk/disk.h"

namespace fq {

/// What each queue has from its first push on, and fq check --repair makes anew. Others come with what lies
/// in them.
inline constexpr std::array<const char*, 4> kQueueDirectories = {"journal", "blobs", "output", "damaged"};

/// A segment that is being made; it takes the place of `segment` when it is whole.
inline constexpr std::string_view kNewSegment = "segment.new";

/// "queue 'name'", as messages call it.
std::string queue_object(std::string_view queue);

/// Opens the queue's directory; ErrorKind::missing, naming spool or queue, when it is not there.
Result<std::unique_ptr<Disk>> open_queue_directory(const std::string& spool, const std::string& queue);
/// Makes spool, queue and its sub-directories where they are missing. True: it was made.
Result<bool> make_queue_directory(const std::string& spool, const std::string& queue);
/// Whether its making was begun and never came to an end: it holds nothing, and is no queue.
bool is_unmade(Disk& queue);
/// Whether queues/<queue>/lock still is this file: a removed queue's is not.
bool names_lock(const std::string& spool, const std::string& queue, uint64_t device, uint64_t inode);
/// That it is not, for sure: one that cannot be looked at may be.
bool is_taken_away(const std::string& spool, const std::string& queue, uint64_t device, uint64_t inode);
/// Whether the spool lies where no other user can put another in its place.
Result<void> check_above(const std::string& spool);
/// Whether a queue may be made in it: it lies so, and it and its queues/ belong to us alone, if they are
/// there.
Result<void> check_spool(const std::string& spool);
/// Of file systems on which fq does not keep its word: its name; else empty.
std::string_view refused_file_system(unsigned long magic);
/// Whether the queue's place is one where fq keeps its word; makes sure that all names down to it are on
/// disk.
Result<void> check_place(const std::string& spool, Disk& queue);
/// Those that are queues, by their names' order.
Result<std::vector<std::string>> list_queue_directories(const std::string& spool);
/// Renames the queue out of the way, then deletes it. Needs: no process is attached.
Result<void> remove_queue_directory(const std::string& spool, const std::string& queue);
/// As much of it as goes. True: all of it.
bool remove_tree(int parent, const char* name);
/// ErrorKind::usage: there is one of that name. Needs: no process is attached.
Result<void> rename_queue_directory(const std::string& spool, const std::string& queue,
                                    const std::string& name);

}  // namespace fq
