// journal - the files of the truth: made ready, recycled, read back in order.
//
// Files are named journal/<number>.fqj. A file is made ready (allocated, written with zeros or recycled,
// header with a new salt, synced, renamed into place, directory synced) before it is needed, so a full disk
// is met early. It is in use from the moment its OPENED record is written. Numbers only grow. This room does
// not choose a file, write records or sync them; core/local/flush does.
#pragma once

// System.
#include <functional>
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/disk/disk.h"
// fq, this room.
#include "core/journal/codec.h"
#include "core/journal/holes.h"

namespace fq {

std::string journal_file_name(uint32_t number);  // "journal/7.fqj"

/// A new file of `bytes` with real, zero-written blocks. Fails early (`later`) on a full disk, and leaves
/// nothing behind then. A number that is taken is refused.
Result<void> make_journal_file(Disk& disk, const FileHeader& header, uint64_t bytes);
/// Takes the dead file `old_number` for the new header; its bytes stay allocated.
Result<void> recycle_journal_file(Disk& disk, uint32_t old_number, const FileHeader& header);
/// Opens a file and checks that its header holds this key (another one: none, it was recycled); where the
/// header is damaged, that the records behind it do. A file that is gone is an Error with sys = ENOENT, one
/// that shows no key ErrorKind::bad_data.
Result<std::unique_ptr<File>> open_journal_file(Disk& disk, const FileKey& key);

/// The findings of a scan about one file.
struct JournalFile {
  FileKey key;
  uint64_t file_bytes = 0;
  bool opened = false;          // false: ready, not yet in use
  uint64_t start_position = 0;  // of its first record
  uint64_t end_position = 0;    // past its last valid record
  uint64_t first_seq = 0;
  std::optional<ClockRecord> clock;  // as it was opened; none where its OPENED is damaged
  bool header_lost = false;
  bool older_format = false;
};

/// A stretch that is no valid record before a point that was once on disk: damage, not a torn tail.
struct JournalDamage {
  uint32_t file_number = 0;
  uint64_t offset = 0;  // in the file
  uint64_t bytes = 0;
  uint64_t records_lost = 0;  // by sequence numbers; 0 when unknown
  std::string what;
};

struct ScanResult {
  std::vector<JournalFile> files;  // in use, oldest first
  std::vector<JournalFile> ready;  // made ready, not in use; by number, and to be used in this order
  // Not in use, yet not made ready just now: one that was given up after a failed sync, one below LOW that
  // came back, one that was passed over. Never used as they are, or what they still hold could be taken for
  // new. One that was used and that nothing replaces is not among them: it is damage, and its bytes are kept.
  std::vector<JournalFile> stale;
  std::vector<std::string> unknown;    // names in journal/ that fq did not make: reported, never touched
  std::vector<std::string> leftovers;  // our own temporary names
  std::vector<JournalDamage> damage;
  uint64_t end_position = 0;  // where the stream ends
  uint64_t next_seq = 1;
  uint64_t durable_position = 0;  // the highest that a record proves
  uint64_t records = 0;
  uint32_t number_max = 0;  // the highest file number seen, in use or ready
  uint32_t lost_number = 0;  // the newest of files that are lost behind the last one in use; 0: none
  bool clean_end = true;    // the last file may be appended to: nothing behind its end parses as a record,
                            // and the disk gives all of it back
};

/// One record as the scan hands it out; the views are valid during the call.
struct ScannedRecord {
  RecordHeader header;
  Bytes body;
  uint32_t file_number = 0;
  const std::optional<ClockRecord>& file_clock;  // JournalFile::clock
};

/// Reads the whole journal in sequence order, with pread in large blocks, and hands each valid record to
/// `visit`. A bad record past the last proven-durable point ends the stream in silence (a torn tail,
/// whatever follows it). A bad one before it is damage: the scan goes on at the next valid record of the
/// file (8-byte steps), or with the next file, and reports the gap. An Error is an I/O error, a file of
/// another format (`unusable`), or what `visit` returned.
Result<ScanResult> scan_journal(Disk& disk, const std::function<Result<void>(const ScannedRecord&)>& visit,
                                Holes holes = Holes::refused);

/// "journal/7.fqj: records are damaged at byte 8192, 41 records lost".
std::string described(const JournalDamage& damage);

/// Where the bytes of a damaged stretch are kept.
struct KeptDamage {
  std::string name;   // "damaged/7-8192.bin", or "damaged/7-8192.2.bin" beside others; "": there are none
  bool made = false;  // they were not there before
  uint64_t unread_bytes = 0;  // zeros stand for them: the disk does not give them back
};

/// Copies them into damaged/, durable; zeros for what the disk does not give back. Fine if they are there;
/// under a name that is free where what is there of that place is something else, as it is when damage has
/// grown.
Result<KeptDamage> keep_damage(Disk& disk, const JournalDamage& damage);

/// "; 96 bytes kept in damaged/"; "" where there are none.
std::string described(const JournalDamage& damage, const KeptDamage& kept);

/// Takes a whole file out of the way, into damaged/ under a name that is free there, durable. Returns that
/// name.
Result<std::string> set_file_aside(Disk& disk, uint32_t number);

}  // namespace fq
