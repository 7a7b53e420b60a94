// journal_files - the journal's files as the segment's table knows them, held against those on disk.
//
// The table knows each file's key, so a damaged header is written anew where the bytes behind it show that
// the file is the one that is meant, and a file that was not in use yet is made again. Anything else is
// damage, for the rest of the repair: nothing here takes anything away that may hold a record. The segment
// also knows the secret with which the keys in the files are hashed.
#pragma once

// System.
#include <optional>
// fq, below us.
#include "core/api/care.h"
// fq, this room.
#include "core/local/files/key_secret.h"
#include "core/local/write/link.h"

namespace fq {

/// A journal file as the segment knows it.
struct TableFile {
  FileKey key;
  uint64_t bytes = 0;
  uint64_t start = 0;  // of its records, in the stream; UINT64_MAX: it has none
  uint64_t end = 0;    // records from here on go elsewhere; UINT64_MAX: it goes on
  uint32_t live = 0;   // messages whose record it holds
  bool current = false;
  bool spare = false;  // not in use yet
};
class JournalFiles : private Linked {
 public:
  explicit JournalFiles(Link& link) : Linked(link) {}

  Result<std::vector<TableFile>> all();
  Result<void> find_worn_headers(CheckReport& report);
  Result<void> find_lost_secret(CheckReport& report);
  Result<void> mend(CheckReport& report);

 private:
  enum class HeaderState {
    whole,
    worn,     // one of its two copies, or what lies between
    lost,     // but what lies behind shows that the file is this one
    foreign,  // nothing shows that, or it was cut so short
    missing,  // with all of the file
  };

  Result<HeaderState> scan_header(const TableFile& file);
  Result<void> mend_file(const TableFile& file, CheckReport& report);
  Result<std::optional<KeySecret>> lost_secret();
  Result<void> mend_secret(CheckReport& report);
  Result<void> leave_useless_file(const TableFile& file, CheckReport& report);
};

}  // namespace fq
