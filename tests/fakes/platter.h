// platter - files and names as readers see them, as they are on disk for sure, and what lies between.
//
// A file is sectors of 512 bytes. Until a sync succeeds a sector may hold on disk whatever it held since the
// last one, for the kernel writes pages when it likes; so may the file's length. A sync that failed proves
// nothing and a second one neither: the kernel has marked the pages clean, and only what is written anew is
// synced again. A change of names is on disk once its directory was synced; until then it may be or not, each
// for itself. after_cut() is the disk that a power cut leaves, for one outcome of each thing that is open.
#pragma once

// System.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq::test {

class Platter {
 public:
  static constexpr uint64_t kSectorBytes = 512;
  static constexpr uint64_t kDirectory = 0;  // the inode of every directory
  using Names = std::map<std::string, uint64_t, std::less<>>;

  /// Something that a power cut decides. Outcome 0 is always that nothing of it arrived.
  struct Open {
    enum class What { name, length, fresh, sectors };
    What what = What::name;
    uint64_t inode = 0;
    uint64_t index = 0;  // of the change of names, or the first sector
    uint32_t outcomes = 2;
    bool operator==(const Open&) const = default;
  };

  // What reaches the kernel. Names are checked by the caller.
  uint64_t create(std::string_view name);
  void make_directory(std::string_view name);
  void rename(std::string_view from, std::string_view to);
  void remove(std::string_view name);
  void write(uint64_t inode, uint64_t offset, std::string_view bytes);
  void lengthen(uint64_t inode, uint64_t bytes);
  void sync(uint64_t inode, bool succeeded);
  void sync_directory(std::string_view directory);
  /// A whole file, durable at once, its name too.
  void put(std::string_view name, std::string content);
  /// Everything so far is on disk.
  void settle();

  const Names& names() const { return names_; }
  std::optional<uint64_t> find(std::string_view name) const;
  const std::string& content(uint64_t inode) const { return inodes_.at(inode).current; }

  /// To be changed in place, behind everybody's back; durable with the next settle().
  std::string& rot(uint64_t inode) { return inodes_.at(inode).current; }

  /// All that is open, with sectors torn apart every `piece_bytes` (512 or a multiple).
  std::vector<Open> open(uint64_t piece_bytes = kSectorBytes) const;
  /// What is left after a power cut. Needs: `open` is what open(piece_bytes) gives, an outcome for each.
  Platter after_cut(std::span<const Open> open, std::span<const uint32_t> outcomes,
                    uint64_t piece_bytes) const;
  /// What blocks of a file that grew hold if the file's length arrived and its bytes did not: some file
  /// systems show what lay there before. Zeros where this is empty.
  void set_stale_bytes(std::string bytes) { stale_ = std::move(bytes); }

 private:
  struct Version {
    uint64_t at = 0;  // the write that made it
    std::string bytes;
  };
  struct Sector {
    std::vector<Version> versions;  // since the last proof; the last is what readers see
    bool dirty = false;             // the next sync will write it
  };
  struct Inode {
    std::string current;
    std::string durable;
    std::map<uint64_t, Sector> unproven;
    std::set<uint64_t> lengths;  // that it had since its length was synced
  };
  /// `to` empty is a removal, `from` empty a creation.
  struct NameChange {
    std::string from, to;
    uint64_t inode = 0;
  };

  void change_name(NameChange change);
  static void apply(Names& names, const NameChange& change);
  static std::string content_after(const Inode& inode, std::span<const Open> open,
                                   std::span<const uint32_t> outcomes, uint64_t piece_sectors,
                                   const std::string& stale);
  static std::vector<uint64_t> times(const Inode& inode, uint64_t first, uint64_t sectors);

  std::map<uint64_t, Inode> inodes_;
  Names names_;
  Names durable_names_;
  std::vector<NameChange> unproven_names_;
  uint64_t next_inode_ = 1;
  uint64_t now_ = 0;
  std::string stale_;
};

std::string parent_of(std::string_view name);

}  // namespace fq::test
