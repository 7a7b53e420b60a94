#include "core/base/text/suggestion.h"
#include "core/base/tenant_name.h"
#include "tests/catch.h"

#include <string>

using namespace fq;

TEST_CASE("tenants are UTF-8 paths of at most 255 bytes and 8 levels") {
  CHECK(tenant_name_fault("acme") == "");
  CHECK(tenant_name_fault("acme/reports/每日") == "");
  CHECK(tenant_name_fault("a*b") == "");
  CHECK(tenant_name_fault("a/b/c/d/e/f/g/h") == "");
  CHECK(tenant_name_fault(std::string(255, 'x')) == "");
  CHECK(tenant_name_fault("a/b/c/d/e/f/g/h/i") == "has more than 8 levels");
  CHECK(tenant_name_fault(std::string(256, 'x')) == "is longer than 255 bytes");
  CHECK(tenant_name_fault("") == "is empty");
  CHECK(tenant_name_fault("\xff") == "is not UTF-8");
}

TEST_CASE("no level of a tenant is empty, '.' or '..'") {
  for (const char* name : {"/", "/a", "a/", "a//b"}) CHECK(tenant_name_fault(name) == "has an empty level");
  for (const char* name : {".", "..", "a/..", "./a", "a/../b"})
    CHECK(tenant_name_fault(name) == "has a level '.' or '..'");
  CHECK(tenant_name_fault("a/.../b") == "");
}

TEST_CASE("no tenant has a control character") {
  for (const char* name : {"a\nb", "a\x1b", "\x7f", "\xc2\x85"})
    CHECK(tenant_name_fault(name) == "has a control character in it");
}

TEST_CASE("what is wrong with a tenant is found at each place of a name of any length") {
  const auto wanted = [](int c, size_t place, size_t length) -> std::string_view {
    if (c >= 0x80) return "is not UTF-8";
    if (c < 0x20 || c == 0x7f) return "has a control character in it";
    if (c == '/' && (place == 0 || place == length - 1)) return "has an empty level";
    return c == '.' && length == 1 ? "has a level '.' or '..'" : "";
  };
  for (size_t length = 1; length <= 18; ++length) {
    for (size_t place = 0; place < length; ++place) {
      for (int c = 0; c < 256; ++c) {
        std::string name(length, c % 2 == 0 ? '!' : '~');
        name[place] = static_cast<char>(c);
        INFO(length << " characters, " << c << " at " << place);
        REQUIRE(tenant_name_fault(name) == wanted(c, place, length));
      }
    }
  }
}

TEST_CASE("a queue's name is always one harmless file name") {
  for (const char* name : {"default", "a", "A-Z_0.9", "0"}) CHECK(queue_name_fault(name) == "");
  for (const char* name : {"", ".", "..", ".a", "-a", "a/b", "a b", "a*", "é"})
    CHECK(queue_name_fault(name) != "");
  CHECK(queue_name_fault(std::string(64, 'x')) == "");
  CHECK(queue_name_fault(std::string(65, 'x')) != "");
}

TEST_CASE("a slip of the keyboard finds its word and another word does not") {
  constexpr std::string_view kWords[] = {"attempts", "order", "sync", "push"};
  CHECK(suggest("atempts", kWords) == "attempts");
  CHECK(suggest("odrer", kWords) == "order");
  CHECK(suggest("psuh", kWords) == "push");
  CHECK(suggest("colour", kWords) == "");
  CHECK(suggest("", kWords) == "");
  CHECK(suggest(std::string(10'000, 'x'), kWords) == "");
}

TEST_CASE("a choice is told as one would say it") {
  constexpr std::string_view kThree[] = {"keep", "replace", "after"};
  CHECK(either(kThree) == "keep, replace or after");
  CHECK(either({kThree, 2}, "\"") == R"("keep" or "replace")");
  CHECK(either({kThree, 1}) == "keep");
}
