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

constexpr size_t kSaltLength = 4;

Error no_such(const std::string& queue) {
  return Error{ErrorKind::missing, "queue " + in_quotes(queue) + ": there is none", 0};
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

/// `place`: what is between the braces of its keys.
std::string Catalog::tag_at(const std::string& place) const { return access_.place.key("{" + place + "}:"); }

Result<Reply> Catalog::call(Words words) {
  FQ_TRY_SET(Reply reply, server_->call(words));
  if (reply.kind == Reply::Kind::error) return error_of_refusal(server_->name(), words[0], reply.text);
  return reply;
}

Result<std::optional<QueueEntry>> Catalog::find(const std::string& queue) {
  const std::string meta = key_of(queue, "meta");
  FQ_TRY_SET(const Reply reply, call(WordList<5>{"HMGET", meta, "schema", "mark", "tag"}));
  if (!reply.at(0).is_text()) return std::optional<QueueEntry>();
  if (reply.at(0).text != kSchema) {
    return Error{ErrorKind::unusable,
                 "queue " + in_quotes(queue) + ": is of schema " + in_quotes(reply.at(0).text) +
                     ", and this fq-redis knows " + std::string(kSchema) + "; use the fq that made it",
                 0};
  }
  return std::optional(QueueEntry{queue, reply.at(1).text, reply.at(2).text, tag_at(reply.at(2).text)});
}

/// One whose root is there already has the keys of a queue that has another name by now.
Result<std::string> Catalog::free_place(const std::string& queue) {
  std::string place = queue + ":" + std::string(kShard);
  for (;;) {
    const std::string root = tag_at(place) + "h";
    FQ_TRY_SET(const Reply taken, call(WordList<2>{"EXISTS", root}));
    if (taken.number == 0) return place;
    place = queue + ":0:" + draw_base32(kSaltLength);
  }
}

Result<bool> Catalog::create(const std::string& queue) {
  const std::string queues = access_.place.key("queues"), meta = key_of(queue, "meta");
  FQ_TRY(call(WordList<3>{"SADD", queues, queue}));
  FQ_TRY_SET(std::optional<QueueEntry> entry, find(queue));
  bool is_new = false;
  if (!entry) {
    FQ_TRY_SET(const std::string mark, new_mark());
    FQ_TRY_SET(const std::string place, free_place(queue));
    FQ_TRY_SET(
        const Reply made,
        call_function(*server_, *access_.library, "make", WordList<1>{meta},
                      WordList<8>{"schema", kSchema, "shards", "1", "mark", mark, "tag", place}, false));
    is_new = made.at(0).number == 1;
    FQ_TRY_SET(entry, find(queue));
  }
  if (!entry)
    return Error{ErrorKind::later, "queue " + in_quotes(queue) + ": is being removed; try again", 0};
  // Not only by whoever made the other: that one may have been killed between the two.
  const std::string root = entry->tag + "h";
  FQ_TRY(call_function(*server_, *access_.library, "make", WordList<1>{root},
                       WordList<8>{"schema", kSchema, "now", "0", "n", "0", "serial", "0"}, false));
  return is_new;
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
  if (known.number == 0) return no_such(queue);
  FQ_TRY(remove_rest(queue));
  const std::string meta = key_of(queue, "meta"), gone = key_of(queue, "gone");
  FQ_TRY_SET(const Reply there, call(WordList<2>{"EXISTS", meta}));
  // First what makes it a queue: whoever comes now finds it missing and puts nothing there.
  if (there.number == 1) FQ_TRY(call(WordList<3>{"RENAME", meta, gone}));
  FQ_TRY(remove_rest(queue));
  FQ_TRY(call(WordList<3>{"SREM", queues, queue}));
  return {};
}

/// Of one that is none any more: its keys, and last what says where they are.
Result<void> Catalog::remove_rest(const std::string& queue) {
  const std::string gone = key_of(queue, "gone");
  FQ_TRY_SET(const Reply reply, call(WordList<3>{"HGET", gone, "tag"}));
  if (!reply.is_text()) return {};
  const std::string tag = tag_at(reply.text), root = tag + "h";
  FQ_TRY(call(WordList<2>{"UNLINK", root}));
  FQ_TRY(remove_keys(tag));
  FQ_TRY(call(WordList<2>{"UNLINK", gone}));
  return {};
}

Result<void> Catalog::rename(const std::string& queue, const std::string& name) {
  FQ_TRY_SET(const std::optional<QueueEntry> entry, find(queue));
  if (!entry) return no_such(queue);
  const std::string queues = access_.place.key("queues"), root = entry->tag + "h";
  const std::string meta = key_of(queue, "meta"), meta_then = key_of(name, "meta");
  FQ_TRY_SET(const Reply reply,
             call_function(*server_, *access_.library, "rename", WordList<4>{meta, meta_then, queues, root},
                           WordList<3>{queue, name, entry->place}, false));
  const std::string& said = reply.at(0).text;
  if (said == "exists")
    return Error{ErrorKind::usage, "queue " + in_quotes(name) + ": exists; choose another name", 0};
  if (said == "attached") {
    return Error{ErrorKind::later,
                 "queue " + in_quotes(queue) + ": is in use by process " +
                     std::to_string(reply.at(1).number) + "; end it first",
                 0};
  }
  return said == "renamed" ? Result<void>() : no_such(queue);
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
