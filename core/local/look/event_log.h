// event_log - the place of a reader of the journal: the stretch that it holds, and the tenant of each
// message.
//
// Only a push tells the tenant, so the reader keeps in mind the tenant of each message until it has ended: 4
// bytes a message, and 4 KiB for one that outlives its neighbours. It need not begin at the oldest file: the
// tenants of older messages are looked up there when they are asked for. Nothing is allocated for an event; a
// tenant's name is kept once, and no longer than its messages. Needs no lock.
#pragma once

// System.
#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
// fq, this room.
#include "core/local/read/event_walk.h"
#include "core/local/read/message_reader.h"

namespace fq {

/// When a message is dead if not started, as its push at that time tells; 0: it has no TTL, or one that
/// begins when it is no longer held.
int64_t expiry_of(const MessageItem& item, int64_t at_wall_ms, int64_t due_wall_ms);

/// Tenants by number, from 1.
class TenantNames {
 public:
  uint32_t number_of(std::string_view path);
  /// Needs: a number that was given.
  std::string_view path(uint32_t tenant) const { return names_[tenant - 1].path; }
  /// Whether it is `wanted` or below.
  bool is_wanted(uint32_t tenant) const { return names_[tenant - 1].wanted; }
  void want(std::string_view path);
  /// The greatest number that was given.
  size_t count() const { return names_.size(); }
  /// As many again as were kept the last time.
  bool are_many() const { return numbers_.size() > many_; }
  /// `used`: by number, which begin at 1; the others are given anew.
  void keep(const std::vector<bool>& used);

 private:
  static constexpr size_t kMany = 4096;  // chosen: some 500 KB
  struct Name {
    std::string path;
    bool wanted = true;
  };
  bool fits(std::string_view path) const;

  std::deque<Name> names_;  // which stay where they are: the map points to them
  std::unordered_map<std::string_view, uint32_t> numbers_;
  std::vector<uint32_t> free_;  // numbers of which nobody has the name any more
  size_t many_ = kMany;
  std::string wanted_;
  uint32_t last_ = 0;  // mostly the next one is of the same
};

/// The tenants of messages, in groups of neighbours that go when the last of them has ended.
class TenantsById {
 public:
  uint32_t get(uint64_t id);  // 0: not known
  void set(uint64_t id, uint32_t tenant);
  void forget(uint64_t id);
  template <class Visit>
  void visit(Visit&& visit) const {
    for (const auto& [number, group] : groups_) {
      for (const uint32_t tenant : group->tenants)
        if (tenant != 0) visit(tenant);
    }
  }

 private:
  static constexpr uint64_t kGroup = 1024;
  struct Group {
    std::array<uint32_t, kGroup> tenants{};
    uint32_t count = 0;
  };
  Group* find(uint64_t number);

  std::unordered_map<uint64_t, std::unique_ptr<Group>> groups_;
  uint64_t last_number_ = UINT64_MAX;
  Group* last_ = nullptr;
};

struct EventLog {
  static constexpr size_t kBlockBytes = 1024 * 1024;  // chosen: larger reads gain nothing from a warm cache
  static constexpr uint32_t kNobody = UINT32_MAX;     // in by_id: nothing tells its tenant
  static constexpr uint32_t kTagged = 1u << 31;       // in by_id, beside the tenant: it has the wanted tag

  /// Bytes of one file, from stream position `begin` on.
  struct Block {
    FileKey key;
    uint64_t begin = 0;
    uint64_t limit = 0;       // nothing from here on can be read of this file, now
    uint64_t file_start = 0;  // stream position of its first record
    bool from_ring = false;
    size_t filled = 0;
    std::vector<std::byte> bytes;
  };
  MutableBytes at_position() {
    if (position < block.begin || position - block.begin >= block.filled) return {};
    return MutableBytes(block.bytes).first(block.filled).subspan(position - block.begin);
  }

  /// For by_id: the number of its tenant, and whether it has the wanted tag.
  uint32_t owner_of(const MessageItem& item);
  /// Names of tenants of whose messages none is kept in mind go, where they have become many. Needs: no page
  /// points to one.
  void forget_names();
  /// Puts an event that the request asks for into the page. False: it is full; the next one begins here.
  bool tell(const EventRequest& request, EventPage& page, uint32_t item, uint32_t owner, const Event& event);
  Cursor cursor() const { return {std::to_string(from_position) + "." + std::to_string(from_item)}; }

  Block block;
  uint64_t position = 0;       // of the record that is read next
  uint64_t end = UINT64_MAX;   // nothing from here on is read
  bool begun = false;          // false: files given back before the oldest one are no loss
  uint32_t nameless_file = 0;  // could not be opened: lost, or about to leave the table of files
  uint64_t from_position = 0;  // events before it were told, or are only to be learnt from
  uint32_t from_item = 0;
  bool counts = false;     // events are only counted, and told afterwards
  std::optional<Tag> tag;  // wanted, by all requests of this log
  TenantNames tenants;
  TenantsById by_id;
  // Earlier records are not read unless an event needs the tenant of its message; ids grow along the stream.
  uint64_t learnt_from = 0;
  uint64_t least_pushed = UINT64_MAX;  // id, of the pushes behind that
  EventRecord record;                  // used again
  std::string receipt;                 // so is this
  std::string after, after_any;        // and these
};

}  // namespace fq
