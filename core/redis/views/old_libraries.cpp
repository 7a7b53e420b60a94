#include "core/redis/views/old_libraries.h"

// System.
#include <algorithm>
#include <array>
#include <string_view>
// fq, below us.
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/waits/root_hints.h"
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kUnusedMs = 30 * kDayMs;  // by anybody of this prefix
// Chosen: whoever comes at least once a week under another prefix is safe, too, though the server knows of
// none that came before it was started.
constexpr int64_t kQuietMs = 7 * kDayMs;

bool is_library_of_fq(std::string_view name) {
  constexpr std::string_view kFront = "fq_";
  constexpr size_t kHashDigits = 16;
  return name.starts_with(kFront) && name.size() == kFront.size() + kHashDigits &&
         name.find_first_not_of("0123456789abcdef", kFront.size()) == std::string_view::npos;
}

bool is_denied(const Reply& reply) {
  return reply.kind == Reply::Kind::error && reply.text.starts_with("NOPERM");
}

}  // namespace

Result<OldLibraries> OldLibraries::open(const ServerAccess& access) {
  OldLibraries found(access);
  const std::string key = access.place.key("lib");
  FQ_TRY_SET(const Reply noted, std::move(access.link->ask_anew({{"HGETALL", key}}).front()));
  for (size_t i = 0; i + 1 < noted.items.size(); i += 2) {
    const std::optional<uint64_t> at_ms = parse_decimal(noted.at(i + 1).text);
    if (at_ms) found.noted_ms_[noted.at(i).text] = static_cast<int64_t>(*at_ms);
  }
  return found;
}

Result<int64_t> OldLibraries::clock_of(Server& server) const {
  if (const std::optional<int64_t> told_ms = access_.told_ms()) return *told_ms;
  FQ_TRY_SET(const Reply time, server.call(std::array<std::string_view, 1>{"TIME"}));
  return clock_ms_in(time);
}

Result<bool> OldLibraries::is_old(Server& server, const std::string& name, int64_t now_ms) const {
  const std::string function = name + "_used", now = std::to_string(now_ms);
  FQ_TRY_SET(const Reply used, server.call(std::array<std::string_view, 4>{"FCALL_RO", function, "0", now}));
  const std::optional<uint64_t> told = used.is_text() ? parse_decimal(used.text) : std::nullopt;
  if (!told) return false;
  const auto used_ms = static_cast<int64_t>(*told);
  const auto noted = noted_ms_.find(name);
  const int64_t last_ms = noted == noted_ms_.end() ? used_ms : noted->second;
  return now_ms - used_ms >= kQuietMs && now_ms - last_ms >= kUnusedMs;
}

Result<std::optional<OldLibraries::Found>> OldLibraries::find(Server& server) const {
  FQ_TRY_SET(const Reply listed,
             server.call(std::array<std::string_view, 4>{"FUNCTION", "LIST", "LIBRARYNAME", "fq_*"}));
  if (is_denied(listed)) return std::optional<Found>();
  if (listed.kind == Reply::Kind::error) return error_of_refusal(server.name(), "FUNCTION LIST", listed.text);
  FQ_TRY_SET(const int64_t now_ms, clock_of(server));
  Found found;
  for (const Reply& library : listed.items) {
    const std::string& name = library.at(1).text;  // behind the word for it
    if (!is_library_of_fq(name) || name == access_.library->name) continue;
    found.others.push_back(name);
    FQ_TRY_SET(const bool old, is_old(server, name, now_ms));
    if (old) found.old.push_back(name);
  }
  return std::optional(std::move(found));
}

/// False: this user may not. `kept`: those that stay. One that is gone somebody else has deleted.
Result<bool> OldLibraries::remove_from(Server& server, std::set<std::string>& kept,
                                       std::set<std::string>& gone) const {
  FQ_TRY_SET(const std::optional<Found> found, find(server));
  if (!found) return false;
  std::set<std::string> stay(found->others.begin(), found->others.end());
  for (const std::string& name : found->old) {
    FQ_TRY_SET(const Reply deleted, server.call(std::array<std::string_view, 3>{"FUNCTION", "DELETE", name}));
    if (is_denied(deleted)) return false;
    if (deleted.kind != Reply::Kind::error) gone.insert(name);
    stay.erase(name);
  }
  kept.merge(stay);
  return true;
}

Result<std::optional<uint64_t>> OldLibraries::remove() const {
  bool may = true;
  std::set<std::string> kept = {std::string(access_.library->name)}, gone;
  FQ_TRY(access_.link->on_each_server([&](Server& server) -> Result<void> {
    FQ_TRY_SET(const bool done, remove_from(server, kept, gone));
    may = may && done;
    return {};
  }));
  if (!may) return std::optional<uint64_t>();
  const std::string key = access_.place.key("lib");
  for (const auto& [name, noted_ms] : noted_ms_) {
    if (kept.contains(name)) continue;
    FQ_TRY(access_.link->call(key, std::array<std::string_view, 3>{"HDEL", key, name}));
  }
  return std::optional<uint64_t>(gone.size());
}

Result<CompactReport> compact_servers(const ServerAccess& access) {
  const auto remove = [&]() -> Result<std::optional<uint64_t>> {
    FQ_TRY_SET(const OldLibraries libraries, OldLibraries::open(access));
    return libraries.remove();
  };
  const Result<std::optional<uint64_t>> gone = remove();
  // While a server is away, which the shards that it has tell, they stay: the next time is early enough.
  const bool is_away = !gone && (gone.error().kind == ErrorKind::later || gone.error().kind == ErrorKind::io);
  if (!gone && !is_away) return gone.error();
  return CompactReport{.has_journal = false, .libraries_gone = is_away ? 0 : *gone};
}

}  // namespace fq
