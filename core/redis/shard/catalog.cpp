#include "core/redis/shard/catalog.h"

// System.
#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/wire/answer.h"
#include "core/redis/records/base32.h"

namespace fq {

namespace {

constexpr std::string_view kSchema = "1";
constexpr std::string_view kShard =
    "0:0";  // its number, and the salt that puts it into its slot of a cluster
constexpr std::string_view kScanPage = "1000";

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

std::string Catalog::tag_of(const std::string& queue) const {
  return access_.place.key("{" + queue + ":" + std::string(kShard) + "}:");
}

Result<Reply> Catalog::call(Words words) {
  FQ_TRY_SET(Reply reply, server_->call(words));
  if (reply.kind == Reply::Kind::error) return error_of_refusal(server_->name(), words[0], reply.text);
  return reply;
}

Result<std::optional<QueueEntry>> Catalog::find(const std::string& queue) {
  const std::string meta = key_of(queue, "meta");
  FQ_TRY_SET(const Reply reply, call(WordList<4>{"HMGET", meta, "schema", "mark"}));
  if (!reply.at(0).is_text()) return std::optional<QueueEntry>();
  if (reply.at(0).text != kSchema) {
    return Error{ErrorKind::unusable,
                 "queue " + in_quotes(queue) + ": is of schema " + in_quotes(reply.at(0).text) +
                     ", and this fq-redis knows " + std::string(kSchema) + "; use the fq that made it",
                 0};
  }
  return std::optional(QueueEntry{reply.at(1).text, tag_of(queue)});
}

Result<bool> Catalog::create(const std::string& queue) {
  const std::string queues = access_.place.key("queues");
  FQ_TRY(call(WordList<3>{"SADD", queues, queue}));
  FQ_TRY_SET(const std::string mark, new_mark());
  const std::string meta = key_of(queue, "meta"), root = tag_of(queue) + "h";
  FQ_TRY_SET(const Reply made,
             call_function(*server_, *access_.library, "make", WordList<1>{meta},
                           WordList<6>{"schema", kSchema, "shards", "1", "mark", mark}, false));
  // Not only by whoever made the other: that one may have been killed between the two.
  FQ_TRY(call_function(*server_, *access_.library, "make", WordList<1>{root},
                       WordList<8>{"schema", kSchema, "now", "0", "n", "0", "serial", "0"}, false));
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
  const std::string meta = key_of(queue, "meta"), tag = tag_of(queue), root = tag + "h";
  // First what makes it a queue: whoever comes now finds it missing and puts nothing there.
  FQ_TRY(call(WordList<2>{"UNLINK", meta}));
  FQ_TRY(call(WordList<2>{"UNLINK", root}));
  FQ_TRY(remove_keys(tag));
  FQ_TRY(call(WordList<3>{"SREM", queues, queue}));
  return {};
}

Result<void> Catalog::remove_keys(const std::string& tag) {
  const std::string pattern = tag + "*";  // prefix and queue have no character that a pattern knows
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
