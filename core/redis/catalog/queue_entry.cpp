#include "core/redis/catalog/queue_entry.h"

// System.
#include <bit>
#include <cstdlib>
#include <random>
#include <utility>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"

namespace fq {

std::string drawn_spread() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string text;
  while (text.size() < 2 * kSpreadDigits) text += kDigits[random() % kDigits.size()];
  return text;
}

Result<void> check_is_as_asked(const std::string& queue, const CreateOptions& options,
                               const std::string& shards, const std::string& events_ms) {
  const auto differs = [&](const std::string& option, const std::string& has) {
    return Error{ErrorKind::usage,
                 option + ": queue " + in_quotes(queue) + " " + has +
                     ", which cannot be changed; export it into another one",
                 0};
  };
  if (options.shards && shards != std::to_string(*options.shards))
    return differs("shards", "has " + shards + (shards == "1" ? " shard" : " shards"));
  const std::optional<int64_t> kept_ms = events_ms_in(events_ms);
  if (options.events_ms && kept_ms != options.events_ms)
    return differs("events", "keeps its events for " + (kept_ms ? format_duration(*kept_ms) : events_ms));
  return {};
}

std::optional<int64_t> events_ms_in(const std::string& told) {
  if (told.empty()) return kEventsMsUsual;
  const std::optional<int64_t> ms = is_digit(told.front()) ? parse_signed(told) : std::nullopt;
  return ms && *ms >= kEventsMsMin && *ms <= kEventsMsMax ? ms : std::nullopt;
}

namespace {

Error damaged(const std::string& queue, const std::string& what) {
  return Error{ErrorKind::bad_data, "queue " + in_quotes(queue) + ": " + what, 0};
}

std::string no_time(const std::string& key, const std::string& told) {
  return "field events of " + key + ": " + in_quotes(told) + " is not from " + std::to_string(kEventsMsMin) +
         " to " + std::to_string(kEventsMsMax) + " (milliseconds); set it right on the server";
}

}  // namespace

bool is_id_of(MessageId id, size_t count) { return number(id) % kShardsMax < count; }

size_t shard_of_id(MessageId id, size_t count) { return is_id_of(id, count) ? number(id) % kShardsMax : 0; }

Result<QueueEntry> read_queue_entry(const std::string& queue, const std::string& key, const Fixed& fixed,
                                    std::vector<std::string> tags) {
  const auto told = [&](const char* field) {
    const auto found = fixed.find(field);
    return found == fixed.end() ? std::string() : found->second;
  };
  const std::string spread = told("spread");
  const bool is_whole = std::has_single_bit(tags.size()) && tags.size() <= kShardsMax &&
                        told("shards") == std::to_string(tags.size()) &&
                        (tags.size() == 1 || spread.size() == 2 * kSpreadDigits);
  if (!is_whole) return damaged(queue, "what the server has of its shards cannot be read");
  const std::optional<int64_t> events_ms = events_ms_in(told("events"));
  if (!events_ms) return damaged(queue, no_time(key, told("events")));
  QueueEntry entry{queue, told("mark"), told("places"), tags.front()};
  entry.events_ms = *events_ms;
  if (tags.size() == 1) return entry;
  entry.tags = std::move(tags);
  for (size_t i = 0; i < entry.spread_by.size(); ++i) {
    const std::string half = spread.substr(i * kSpreadDigits, kSpreadDigits);
    entry.spread_by.at(i) = std::strtoull(half.c_str(), nullptr, 16);
  }
  return entry;
}

}  // namespace fq
