#include "core/redis/shard/catalog.h"

// System.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <random>
// fq, below us.
#include "core/api/create_options.h"
#include "core/base/tenant_name.h"
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/wire/answer.h"
#include "core/redis/records/base32.h"

namespace fq {

namespace {

constexpr std::string_view kSchema = "1";
constexpr std::string_view kScanPage = "1000";

constexpr size_t kSpreadDigits = 16;      // of each half of the key, in hexadecimal
constexpr uint64_t kIdStep = kShardsMax;  // ids of a shard are its number, modulo that

std::string drawn_digits() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string text;
  while (text.size() < 2 * kSpreadDigits) text += kDigits[random() % kDigits.size()];
  return text;
}

template <size_t kCount>
using WordList = std::array<std::string_view, kCount>;

}  // namespace

Result<Catalog> Catalog::open(const ServerAccess& access) {
  FQ_TRY_SET(std::unique_ptr<Server> server, Server::open(access.place, access.password));
  return Catalog(access, std::move(server));
}

std::string Catalog::key_of(const std::string& queue, std::string_view what) const {
  return access_.place.key("{" + queue + "}:" + std::string(what));
}

/// Behind its number is the salt that would put it into a slot of a cluster.
std::string Catalog::tag_of(const std::string& queue, uint32_t shard) const {
  return access_.place.key("{" + queue + ":" + std::to_string(shard) + ":0}:");
}

Result<Reply> Catalog::call(Words words) {
  FQ_TRY_SET(Reply reply, server_->call(words));
  if (reply.kind == Reply::Kind::error) return error_of_refusal(server_->name(), words[0], reply.text);
  return reply;
}

Result<std::map<std::string, std::string>> Catalog::meta_of(const std::string& queue) {
  const std::string key = key_of(queue, "meta");
  FQ_TRY_SET(const Reply reply, call(WordList<2>{"HGETALL", key}));
  std::map<std::string, std::string> meta;
  for (size_t i = 0; i + 1 < reply.items.size(); i += 2) meta[reply.at(i).text] = reply.at(i + 1).text;
  if (!meta.empty() && meta["schema"] != kSchema) {
    return Error{ErrorKind::unusable,
                 "queue " + in_quotes(queue) + ": is of schema " + in_quotes(meta["schema"]) +
                     ", and this fq-redis knows " + std::string(kSchema) + "; use the fq that made it",
                 0};
  }
  return meta;
}

Result<std::optional<QueueEntry>> Catalog::find(const std::string& queue) {
  FQ_TRY_SET(auto meta, meta_of(queue));
  if (meta.empty()) return std::optional<QueueEntry>();
  QueueEntry entry{meta["mark"], tag_of(queue)};
  const std::optional<uint64_t> shards = parse_decimal(meta["shards"]);
  const std::string& spread = meta["spread"];
  const bool is_whole = shards && std::has_single_bit(*shards) && *shards <= kShardsMax &&
                        (*shards == 1 || spread.size() == 2 * kSpreadDigits);
  if (!is_whole) {
    return Error{ErrorKind::bad_data,
                 "queue " + in_quotes(queue) + ": what the server has of its shards cannot be read", 0};
  }
  if (*shards == 1) return std::optional(std::move(entry));
  for (uint32_t shard = 0; shard < *shards; ++shard) entry.tags.push_back(tag_of(queue, shard));
  for (size_t i = 0; i < entry.spread_by.size(); ++i)
    entry.spread_by.at(i) =
        std::strtoull(spread.substr(i * kSpreadDigits, kSpreadDigits).c_str(), nullptr, 16);
  return std::optional(std::move(entry));
}

/// Not only by whoever made the queue: that one may have been killed in between.
Result<void> Catalog::make_roots(const std::string& queue, uint32_t shards) {
  const std::string step = std::to_string(kIdStep);
  for (uint32_t shard = 0; shard < shards; ++shard) {
    const std::string root = tag_of(queue, shard) + "h", first = std::to_string(shard);
    const WordList<10> fields = {"schema", kSchema, "now", "0", "n", first, "serial", "0", "step", step};
    FQ_TRY(call_function(*server_, *access_.library, "make", WordList<1>{root},
                         Words(fields).first(shards == 1 ? 8 : 10), false));
  }
  return {};
}

Result<bool> Catalog::create(const std::string& queue, std::optional<uint32_t> shards) {
  const std::string queues = access_.place.key("queues");
  FQ_TRY(call(WordList<3>{"SADD", queues, queue}));
  FQ_TRY_SET(const std::string mark, new_mark());
  const std::string meta = key_of(queue, "meta");
  const std::string wanted = std::to_string(shards.value_or(1)), spread = drawn_digits();
  const WordList<8> fields = {"schema", kSchema, "shards", wanted, "mark", mark, "spread", spread};
  FQ_TRY_SET(const Reply made, call_function(*server_, *access_.library, "make", WordList<1>{meta},
                                             Words(fields).first(shards.value_or(1) == 1 ? 6 : 8), false));
  FQ_TRY_SET(auto there, meta_of(queue));
  const std::string count = there["shards"];
  if (shards && count != wanted) {
    return Error{ErrorKind::usage,
                 "--shards: queue " + in_quotes(queue) + " has " + count +
                     (count == "1" ? " shard" : " shards") +
                     ", which cannot be changed; export it into another one",
                 0};
  }
  if (there["whole"] == "1") return false;  // and so are its roots
  FQ_TRY(make_roots(queue, static_cast<uint32_t>(parse_decimal(count).value_or(1))));
  if (count != "1") FQ_TRY(call(WordList<4>{"HSET", meta, "whole", "1"}));
  return made.at(0).number == 1;
}

Result<std::vector<std::string>> Catalog::list() {
  const std::string queues = access_.place.key("queues");
  FQ_TRY_SET(const Reply reply, call(WordList<2>{"SMEMBERS", queues}));
  std::vector<std::string> names;
  for (const Reply& each : reply.items) {
    if (queue_name_fault(each.text).empty()) names.push_back(each.text);  // others may write there, too
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> Catalog::marked(std::string_view mark) {
  FQ_TRY_SET(const std::vector<std::string> queues, list());
  for (const std::string& queue : queues) {
    FQ_TRY_SET(const std::optional<QueueEntry> entry, find(queue));
    if (entry && entry->mark == mark.substr(0, kMarkLength)) return queue;
  }
  return std::string();
}

Result<std::string> Catalog::new_mark() {
  for (;;) {
    std::string mark = draw_base32(kMarkLength);
    FQ_TRY_SET(const std::string other, marked(mark));
    if (other.empty()) return mark;
  }
}

Result<void> Catalog::remove(const std::string& queue) {
  const std::string queues = access_.place.key("queues");
  FQ_TRY_SET(const Reply known, call(WordList<3>{"SISMEMBER", queues, queue}));
  if (known.number == 0) return Error{ErrorKind::missing, "queue " + in_quotes(queue) + ": there is none", 0};
  const std::string meta = key_of(queue, "meta");
  FQ_TRY_SET(const Reply shards, call(WordList<3>{"HGET", meta, "shards"}));
  // First what makes it a queue: whoever comes now finds it missing and puts nothing there.
  FQ_TRY(call(WordList<2>{"UNLINK", meta}));
  const uint64_t count = std::min<uint64_t>(parse_decimal(shards.text).value_or(kShardsMax), kShardsMax);
  for (uint32_t shard = 0; shard < count; ++shard) {
    const std::string root = tag_of(queue, shard) + "h";
    FQ_TRY(call(WordList<2>{"UNLINK", root}));
  }
  FQ_TRY(remove_keys(queue));
  FQ_TRY(call(WordList<3>{"SREM", queues, queue}));
  return {};
}

/// Of all its shards.
Result<void> Catalog::remove_keys(const std::string& queue) {
  // Prefix and queue have no character that a pattern knows.
  const std::string pattern = access_.place.key("{" + queue + ":*");
  std::string cursor = "0";
  do {
    FQ_TRY_SET(const Reply page, call(WordList<6>{"SCAN", cursor, "MATCH", pattern, "COUNT", kScanPage}));
    cursor = page.at(0).text;
    std::vector<std::string_view> words = {"UNLINK"};
    for (const Reply& key : page.at(1).items) words.push_back(key.text);
    if (words.size() > 1) FQ_TRY(call(words));
  } while (cursor != "0" && !cursor.empty());
  return {};
}

}  // namespace fq
