// lost_header - a journal file whose header is gone, both copies of it: proved to be the same file, and
// mended.
//
// All that the header tells is the file's key. A segment knows it; else it is told by OPENED, which was
// sealed with it and lies behind the header. A seal under a key proves it.
#pragma once

// fq, this room.
#include "core/journal/file_records.h"
#include "core/journal/journal.h"

namespace fq {

/// Whether the file's OPENED, or one of its first records, is sealed with this key. A file that was never in
/// use shows nothing.
Result<bool> shows_key(File& file, const FileKey& key);

/// A key under which the file was in use, and can be read; none where nothing proves one.
Result<std::optional<FileKey>> find_lost_key(File& file, uint32_t number, FileWindow& window);

/// The first bytes of a file, as many as it has: none where the disk does not give them back, as of a file
/// whose header is damaged.
Result<size_t> read_front(File& file, MutableBytes to);

/// Writes the header anew, durable; the bytes behind it are not touched. Needs: no process gives the file
/// back meanwhile.
Result<void> write_header_anew(Disk& disk, const FileHeader& header);

}  // namespace fq
