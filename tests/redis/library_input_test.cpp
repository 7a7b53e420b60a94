// library_input_test - what no fq sends is refused by the server's program, and nothing is changed: words of
// a push and of who begins to wait that are cut short or are none.

// System.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
// fq, below us.
#include "core/redis/records/records.h"
#include "core/redis/redis_queue.h"
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

namespace {

const std::string kToken = "a token of a push";
constexpr size_t kDelayAt = 18;  // in the fields of a push: see push.lua
constexpr size_t kWaitBytes = 9;

/// All keys, with what they have.
std::map<std::string, std::string> content(const TestServer& server) {
  std::map<std::string, std::string> all;
  for (const Reply& key : command(server, {"KEYS", "*"}).items)
    all[key.text] = command(server, {"DUMP", key.text}).text;
  return all;
}

struct Library {
  Library() { push_one(*queue, "t", "there"); }
  Shard& shard() const { return dynamic_cast<RedisQueue&>(*queue).shard(); }
  /// True: it is refused, and all is as it was.
  bool refuses(std::string_view function, const std::vector<std::string_view>& words) const {
    const auto before = content(server);
    const bool is_refused = !shard().change(function, words);
    return is_refused && content(server) == before;
  }

  const TestServer server;
  const std::unique_ptr<Queue> queue = open_on(real_time_engine(), server.spool());
};

/// With all that a push may say.
struct LongPush {
  explicit LongPush(bool debounced) {
    message.tenant = "t/u";
    message.payload = as_bytes(payload);
    message.after = {MessageId{1}};
    message.after_any = {MessageId{1}};
    message.tags = {{"k", "v"}};
    (debounced ? message.debounce : message.unique) = "a key";
    fields = push_fields(message, 0);
    rest = push_rest(message, "");
  }
  std::vector<std::string_view> words() const { return {kToken, "7", message.tenant, fields, "", rest}; }

  const std::string payload = "payload";
  NewMessage message;
  std::string fields, rest;
};

}  // namespace

TEST_CASE("a push whose fields are cut anywhere adds nothing") {
  const Library library;
  LongPush push(GENERATE(false, true));
  const std::string whole = push.fields;
  for (size_t length = 0; length < whole.size(); ++length) {
    if ((whole.size() - length) % kWaitBytes == 0 && whole.size() - length <= 2 * kWaitBytes)
      continue;  // one less
    CAPTURE(length);
    push.fields = whole.substr(0, length);
    CHECK(library.refuses("push", push.words()));
  }
  push.fields = whole;
  CHECK(!library.refuses("push", push.words()));
}

TEST_CASE("a push of which only the client reads another part than it tells adds nothing") {
  const Library library;
  LongPush push(false);
  const std::string whole = push.rest;
  for (size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    push.rest = whole.substr(0, length);
    CHECK(library.refuses("push", push.words()));
  }
  push.rest = whole + "x";
  CHECK(library.refuses("push", push.words()));
}

TEST_CASE("a push without all of its words adds nothing") {
  const Library library;
  const LongPush push(false);
  for (size_t count = 0; count < push.words().size(); ++count) {
    CAPTURE(count);
    std::vector<std::string_view> some = push.words();
    some.resize(count);
    if (count != 2) CHECK(library.refuses("push", some));  // two are a push of nothing
  }
}

TEST_CASE("a push with a time or an id that cannot be adds nothing") {
  const Library library;
  LongPush push(false);
  const double number = GENERATE(std::nan(""), std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity());
  const bool is_delay = GENERATE(true, false);
  const size_t at = is_delay ? kDelayAt : push.fields.size() - kWaitBytes;
  CAPTURE(number, at);
  std::memcpy(push.fields.data() + at, &number, sizeof number);
  CHECK(library.refuses("push", push.words()));
}

TEST_CASE("who begins to wait for what there is not, or does not say for what, is noted down nowhere") {
  const Library library;
  const std::string kind = GENERATE(as<std::string>(), "", "x", "t", "w", "f", "eo", "eiolr", "-x", "\n");
  CAPTURE(kind);
  CHECK(library.refuses("listen", {"t", kind, "1", "0"}));
  for (const char* id : {"", "x", "nan", "1 "}) CHECK(library.refuses("listen", {"t", "e", id, "0"}));
  CHECK(library.refuses("listen", {}));
  CHECK(library.refuses("listen", {"t", "e"}));
  CHECK(!library.refuses("listen", {"t", "e", "1", "0"}));
}

}  // namespace fq::test
