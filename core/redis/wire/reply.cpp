#include "core/redis/wire/reply.h"

// System.
#include <hiredis/read.h>

namespace fq {

namespace {

/// Where the reply of this task goes: into its list, or it is the whole one.
Reply* place_of(const redisReadTask* task) {
  if (task->parent == nullptr) return new Reply;  // freed by free_reply, or handed over by next()
  auto* const list = static_cast<Reply*>(task->parent->obj);
  const auto index = static_cast<size_t>(task->idx);
  return index < list->items.size() ? &list->items[index] : nullptr;
}

void* make_text(const redisReadTask* task, char* text, size_t length) {
  Reply* const reply = place_of(task);
  if (reply == nullptr) return nullptr;
  reply->kind = task->type == REDIS_REPLY_ERROR ? Reply::Kind::error : Reply::Kind::text;
  reply->text.assign(text, length);
  return reply;
}

void* make_list(const redisReadTask* task, int count) {
  if (count < 0 || static_cast<size_t>(count) > kReplyItemsMax) return nullptr;
  size_t& in_all = *static_cast<size_t*>(task->privdata);
  in_all += static_cast<size_t>(count);
  if (in_all > kReplyItemsInAllMax) return nullptr;
  Reply* const reply = place_of(task);
  if (reply == nullptr) return nullptr;
  reply->kind = Reply::Kind::list;
  reply->items.resize(static_cast<size_t>(count));
  return reply;
}

void* make_number(const redisReadTask* task, long long number) {
  Reply* const reply = place_of(task);
  if (reply == nullptr) return nullptr;
  reply->kind = Reply::Kind::number;
  reply->number = number;
  return reply;
}

void* make_nothing(const redisReadTask* task) { return place_of(task); }

/// Of a whole reply; what lies in a list goes with it.
void free_reply(void* reply) { delete static_cast<Reply*>(reply); }

redisReplyObjectFunctions functions = {make_text, make_list, make_number, make_nothing, free_reply};

}  // namespace

const Reply& Reply::at(size_t index) const {
  static const Reply none;
  return index < items.size() ? items[index] : none;
}

ReplyParser::ReplyParser() : reader_(redisReaderCreateWithFunctions(&functions)) {
  if (reader_ == nullptr) throw std::bad_alloc();
  reader_->privdata = &pending_items_;
}

ReplyParser::~ReplyParser() { redisReaderFree(reader_); }

Result<void> ReplyParser::feed(std::string_view bytes) {
  pending_bytes_ += bytes.size();
  if (pending_bytes_ > kReplyBytesMax) return Error{ErrorKind::unusable, "a reply is longer than 64MiB", 0};
  if (redisReaderFeed(reader_, bytes.data(), bytes.size()) == 0) return {};
  return Error{ErrorKind::unusable, "what it answers is no Redis protocol", 0};
}

Result<std::optional<Reply>> ReplyParser::next() {
  void* whole = nullptr;
  if (redisReaderGetReply(reader_, &whole) != 0)
    return Error{ErrorKind::unusable, "what it answers is no Redis protocol, or has too many items", 0};
  if (whole == nullptr) {
    // What is left begins with a line, also that of a text, which says how long the text is.
    const std::string_view left(reader_->buf + reader_->pos, reader_->len - reader_->pos);
    if (left.size() > kReplyLineMax && left.substr(0, kReplyLineMax).find('\n') == std::string_view::npos)
      return Error{ErrorKind::unusable, "what it answers has a line that is too long", 0};
    return std::optional<Reply>();
  }
  const std::unique_ptr<Reply> owned(static_cast<Reply*>(whole));
  pending_bytes_ = reader_->len - reader_->pos;
  pending_items_ = 0;
  return std::optional<Reply>(std::move(*owned));
}

}  // namespace fq
