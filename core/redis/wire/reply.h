// reply - a server's reply, parsed as it comes in.
//
// A server may be hostile or no Redis at all: the number of items and bytes of a reply is checked before
// memory is taken for it.
#pragma once

// System.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/result.h"

struct redisReader;

namespace fq {

inline constexpr size_t kReplyBytesMax = 64 * 1024 * 1024;
// Of one line, a refusal say: the search for its end begins anew with each part of it that comes.
inline constexpr size_t kReplyLineMax = 64 * 1024;
inline constexpr size_t kReplyItemsMax = 64 * 1024;  // of one list
// Of all lists of a reply. Four bytes make an item of seventy: chosen, 75 MB.
inline constexpr size_t kReplyItemsInAllMax = 1024 * 1024;

struct Reply {
  enum class Kind { nothing, text, error, number, list };
  Kind kind = Kind::nothing;
  std::string text;  // of a text, a status or an error
  int64_t number = 0;
  std::vector<Reply> items;

  /// Of a list; one with fewer items has nothing there.
  const Reply& at(size_t index) const;
  bool is_text() const { return kind == Kind::text; }
};

/// Finds replies in a stream of bytes.
class ReplyParser {
 public:
  ReplyParser();
  ~ReplyParser();
  ReplyParser(const ReplyParser&) = delete;
  ReplyParser& operator=(const ReplyParser&) = delete;

  /// ErrorKind::unusable: the bytes are not a reply, or one beyond the limits.
  Result<void> feed(std::string_view bytes);
  /// The next whole one; none: more has to come.
  Result<std::optional<Reply>> next();

 private:
  redisReader* reader_;
  size_t pending_bytes_ = 0;  // since the last whole reply
  size_t pending_items_ = 0;
};

}  // namespace fq
