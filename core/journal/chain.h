// chain - the files in journal/ that make the stream, and their order.
//
// Each file in use names in OPENED the one before it and the position where it took over, so the chain is
// walked back from the newest. A number that is missing there is legal below LOW and damage above it.
// This file looks at names, headers and OPENED only; a record is looked for just to tell a file that was
// never in use from one whose OPENED is damaged.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/disk/disk.h"
// fq, this room.
#include "core/journal/file_records.h"
#include "core/journal/journal.h"

namespace fq {

/// A file whose key is known.
struct ChainFile {
  FileKey key;
  uint64_t file_bytes = 0;
  bool header_lost = false;          // the key is told by what lies behind it
  bool older_format = false;         // its records are read, but none of ours is to stand beside them
  bool opened = false;               // OPENED is valid
  uint32_t previous_number = 0;      // needs: opened
  uint64_t start_position = 0;       // needs: opened or inferred
  uint64_t first_seq = 0;            // 0: not known
  std::optional<ClockRecord> clock;  // as OPENED tells
  bool inferred = false;             // a record parses although OPENED does not: start told by its position
  bool joins_previous = false;       // in a chain: nothing is missing between it and the file before it

  bool was_used() const { return opened || inferred; }
};

/// A file with a name of ours of which nothing can be read: no key, or no room for a record.
struct HeadlessFile {
  uint32_t number = 0;
  uint64_t file_bytes = 0;
};

struct Inventory {
  std::vector<ChainFile> files;  // by number
  std::vector<HeadlessFile> headless;
  std::vector<std::string> unknown;
  std::vector<std::string> leftovers;
  uint32_t number_max = 0;
};

/// Looks at every name in journal/. Fails with `unusable` on a file of another format.
Result<Inventory> take_inventory(Disk& disk, FileWindow& window);

/// Fails with `unusable` on a file of a format that this build does not read; changes nothing.
Result<void> check_formats(Disk& disk);

/// The files of the stream, oldest first, back to the first file that is missing; with `across_gaps` also
/// older ones behind it. Empty when no file is in use.
std::vector<ChainFile> link_chain(const Inventory& inventory, bool across_gaps);

}  // namespace fq
