// platter - see the header. A sector without an entry in `unproven` is on disk as readers see it.
#include "tests/fakes/platter.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

constexpr uint64_t kSector = Platter::kSectorBytes;

void put_at(std::string& content, uint64_t offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  content.replace(offset, bytes.size(), bytes);
}

/// Filled up with zeros behind the end of the file.
std::string sector_of(const std::string& content, uint64_t sector) {
  std::string bytes =
      sector * kSector < content.size() ? content.substr(sector * kSector, kSector) : std::string();
  bytes.resize(kSector);
  return bytes;
}

}  // namespace

std::string parent_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(name.substr(0, slash));
}

uint64_t Platter::create(std::string_view name) {
  const uint64_t inode = next_inode_++;
  inodes_[inode];
  change_name({"", std::string(name), inode});
  return inode;
}

void Platter::make_directory(std::string_view name) { change_name({"", std::string(name), kDirectory}); }

void Platter::rename(std::string_view from, std::string_view to) {
  change_name({std::string(from), std::string(to), names_.find(from)->second});
}

void Platter::remove(std::string_view name) {
  change_name({std::string(name), "", names_.find(name)->second});
}

void Platter::change_name(NameChange change) {
  apply(names_, change);
  unproven_names_.push_back(std::move(change));
}

void Platter::apply(Names& names, const NameChange& change) {
  if (!change.from.empty() && names.erase(change.from) == 0) return;  // what it changes did not survive
  if (!change.to.empty()) names[change.to] = change.inode;
  if (change.inode != kDirectory || change.from.empty() || change.to.empty()) return;
  // A directory takes along what lies below it.
  const std::string below = change.from + "/";
  std::vector<std::pair<std::string, uint64_t>> moved;
  for (auto it = names.lower_bound(below); it != names.end() && it->first.starts_with(below);
       it = names.erase(it)) {
    moved.emplace_back(change.to + "/" + it->first.substr(below.size()), it->second);
  }
  names.insert(moved.begin(), moved.end());
}

void Platter::write(uint64_t number, uint64_t offset, std::string_view bytes) {
  Inode& inode = inodes_.at(number);
  if (bytes.empty()) return;
  ++now_;
  if (offset + bytes.size() > inode.current.size()) lengthen(number, offset + bytes.size());
  put_at(inode.current, offset, bytes);
  for (uint64_t sector = offset / kSector; sector * kSector < offset + bytes.size(); ++sector) {
    std::string now = sector_of(inode.current, sector);
    const auto known = inode.unproven.find(sector);
    if (known == inode.unproven.end() && now == sector_of(inode.durable, sector)) continue;
    Sector& to = known == inode.unproven.end() ? inode.unproven[sector] : known->second;
    to.dirty = true;
    if (to.versions.empty() || to.versions.back().bytes != now) to.versions.push_back({now_, std::move(now)});
  }
}

void Platter::lengthen(uint64_t number, uint64_t bytes) {
  Inode& inode = inodes_.at(number);
  if (bytes <= inode.current.size()) return;
  inode.current.resize(bytes);
  inode.lengths.insert(bytes);
}

void Platter::sync(uint64_t number, bool succeeded) {
  Inode& inode = inodes_.at(number);
  if (!succeeded) {
    for (auto& [sector, unproven] : inode.unproven) unproven.dirty = false;
    return;
  }
  inode.durable.resize(inode.current.size());
  inode.lengths.clear();
  for (auto it = inode.unproven.begin(); it != inode.unproven.end();) {
    if (!it->second.dirty) {
      ++it;
      continue;
    }
    inode.durable.replace(it->first * kSector, kSector, inode.current, it->first * kSector, kSector);
    it = inode.unproven.erase(it);
  }
}

void Platter::sync_directory(std::string_view directory) {
  const auto lies_in = [&](const std::string& name) { return !name.empty() && parent_of(name) == directory; };
  std::vector<NameChange> left;
  for (NameChange& change : unproven_names_) {
    if (lies_in(change.from) || lies_in(change.to)) {
      apply(durable_names_, change);
    } else {
      left.push_back(std::move(change));
    }
  }
  unproven_names_ = std::move(left);
}

void Platter::put(std::string_view name, std::string content) {
  const auto found = names_.find(name);
  const uint64_t number = found == names_.end() ? next_inode_++ : found->second;
  names_.insert_or_assign(std::string(name), number);
  durable_names_.insert_or_assign(std::string(name), number);
  Inode& inode = inodes_[number];
  inode = {};
  inode.current = inode.durable = std::move(content);
}

void Platter::settle() {
  for (auto& [number, inode] : inodes_) {
    inode.durable = inode.current;
    inode.unproven.clear();
    inode.lengths.clear();
  }
  durable_names_ = names_;
  unproven_names_.clear();
}

std::optional<uint64_t> Platter::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

/// The writes that a piece may show the outcome of, oldest first.
std::vector<uint64_t> Platter::times(const Inode& inode, uint64_t first, uint64_t sectors) {
  std::set<uint64_t> found;
  for (auto it = inode.unproven.lower_bound(first); it != inode.unproven.end() && it->first < first + sectors;
       ++it) {
    for (const Version& version : it->second.versions) found.insert(version.at);
  }
  return {found.begin(), found.end()};
}

std::vector<Platter::Open> Platter::open(uint64_t piece_bytes) const {
  std::vector<Open> open;
  for (size_t i = 0; i < unproven_names_.size(); ++i) open.push_back({Open::What::name, 0, i, 2});
  std::set<uint64_t> reachable;
  for (const Names* names : {&names_, &durable_names_}) {
    for (const auto& [name, inode] : *names) reachable.insert(inode);
  }
  for (const NameChange& change : unproven_names_) reachable.insert(change.inode);
  reachable.erase(kDirectory);
  for (const uint64_t number : reachable) {
    const Inode& inode = inodes_.at(number);
    if (!inode.lengths.empty()) {
      // As it was, as far as bytes arrived, or any length that it had since.
      open.push_back({Open::What::length, number, 0, static_cast<uint32_t>(inode.lengths.size()) + 2});
      if (!stale_.empty()) open.push_back({Open::What::fresh, number, 0, 2});
    }
    const uint64_t sectors = piece_bytes / kSector;
    for (auto it = inode.unproven.begin(); it != inode.unproven.end();) {
      const uint64_t first = it->first / sectors * sectors;
      const auto outcomes = static_cast<uint32_t>(times(inode, first, sectors).size()) + 1;
      open.push_back({Open::What::sectors, number, first, outcomes});
      it = inode.unproven.lower_bound(first + sectors);
    }
  }
  return open;
}

std::string Platter::content_after(const Inode& inode, std::span<const Open> open,
                                   std::span<const uint32_t> outcomes, uint64_t piece_sectors,
                                   const std::string& stale) {
  std::string content = inode.durable;
  uint64_t length = content.size();
  uint64_t reached = length;
  uint32_t length_outcome = 0;
  bool shows_stale = false;
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i].what == Open::What::length) length_outcome = outcomes[i];
    if (open[i].what == Open::What::fresh) shows_stale = outcomes[i] != 0;
  }
  if (shows_stale) {
    while (content.size() < inode.current.size()) {
      content.append(stale, 0, inode.current.size() - content.size());
    }
  }
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i].what != Open::What::sectors || outcomes[i] == 0) continue;
    const uint64_t first = open[i].index;
    const uint64_t until = times(inode, first, piece_sectors).at(outcomes[i] - 1);
    for (auto it = inode.unproven.lower_bound(first);
         it != inode.unproven.end() && it->first < first + piece_sectors; ++it) {
      const Version* kept = nullptr;
      for (const Version& version : it->second.versions) {
        if (version.at <= until) kept = &version;
      }
      if (kept == nullptr) continue;
      put_at(content, it->first * kSector, kept->bytes);
      reached = std::max(reached, std::min<uint64_t>((it->first + 1) * kSector, inode.current.size()));
    }
  }
  if (length_outcome == 1) length = reached;
  if (length_outcome > 1) length = *std::next(inode.lengths.begin(), length_outcome - 2);
  content.resize(length);
  return content;
}

Platter Platter::after_cut(std::span<const Open> open, std::span<const uint32_t> outcomes,
                           uint64_t piece_bytes) const {
  Platter left;
  left.next_inode_ = next_inode_;
  left.stale_ = stale_;
  left.names_ = durable_names_;
  size_t at = 0;
  for (; at < open.size() && open[at].what == Open::What::name; ++at) {
    if (outcomes[at] != 0) apply(left.names_, unproven_names_[open[at].index]);
  }
  // Names whose directory did not survive are gone with it.
  for (auto it = left.names_.begin(); it != left.names_.end();) {
    const std::string parent = parent_of(it->first);
    it = parent.empty() || left.names_.contains(parent) ? std::next(it) : left.names_.erase(it);
  }
  left.durable_names_ = left.names_;
  // What is open of one file stands together, files in the order of their numbers.
  std::map<uint64_t, std::pair<size_t, size_t>> ranges;
  for (; at < open.size(); ++at) ranges.try_emplace(open[at].inode, at, at).first->second.second = at + 1;
  for (const auto& [name, number] : left.names_) {
    if (number == kDirectory) continue;
    const auto [begin, end] = ranges[number];
    Inode& inode = left.inodes_[number];
    inode.durable = content_after(inodes_.at(number), open.subspan(begin, end - begin),
                                  outcomes.subspan(begin, end - begin), piece_bytes / kSector, stale_);
    inode.current = inode.durable;
  }
  return left;
}

}  // namespace fq::test
