// reply_fuzz - what a server sends: replies within their limits or a refusal, and the same ones in whatever
// pieces the bytes come.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/redis/wire/reply.h"

using namespace fq;

namespace {

struct Heard {
  std::vector<Reply> replies;
  bool is_refused = false;
};

bool are_equal(const Reply& a, const Reply& b) {
  return a.kind == b.kind && a.text == b.text && a.number == b.number &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), are_equal);
}

size_t items_in(const Reply& reply) {
  size_t count = reply.items.size();
  FQ_ASSERT(count <= kReplyItemsMax);
  for (const Reply& each : reply.items) count += items_in(each);
  return count;
}

/// Fed in pieces of so many bytes.
Heard hear(std::string_view bytes, size_t piece) {
  Heard heard;
  ReplyParser parser;
  while (!bytes.empty() && !heard.is_refused) {
    const std::string_view some = bytes.substr(0, piece);
    bytes.remove_prefix(some.size());
    heard.is_refused = !parser.feed(some).ok();
    while (!heard.is_refused) {
      Result<std::optional<Reply>> next = parser.next();
      heard.is_refused = !next.ok();
      if (!next.ok() || !*next) break;
      FQ_ASSERT(items_in(**next) <= kReplyItemsInAllMax);
      heard.replies.push_back(std::move(**next));
    }
  }
  return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = as_text(std::as_bytes(std::span(data, size)));
  const Heard whole = hear(bytes, std::max<size_t>(bytes.size(), 1));
  for (const size_t piece : {size_t{1}, size_t{7}}) {
    const Heard pieces = hear(bytes, piece);
    FQ_ASSERT(pieces.is_refused == whole.is_refused);
    // Of bytes that are refused at last, those before may have come as replies or not.
    if (whole.is_refused) continue;
    FQ_ASSERT(std::equal(whole.replies.begin(), whole.replies.end(), pieces.replies.begin(),
                         pieces.replies.end(), are_equal));
  }
  return 0;
}
