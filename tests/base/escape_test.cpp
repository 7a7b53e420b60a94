#include "core/base/text/escape.h"

#include "core/base/text/base64.h"
#include "core/base/text/utf8.h"
#include "tests/catch.h"

using namespace fq;
using namespace std::string_literals;

TEST_CASE("a terminal is shown no control character, no direction mark and no broken UTF-8") {
  CHECK(escape_terminal("plain 测试") == "plain 测试");
  CHECK(escape_terminal("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(escape_terminal("a\nb\tc\r") == "a\\nb\\tc\\r");
  CHECK(escape_terminal("\x7f\0"s) == "\\x7f\\x00");
  CHECK(escape_terminal("\xc2\x9b"
                        "31m") == "\\u{9b}31m");
  CHECK(escape_terminal("\xe2\x80\xae") == "\\u{202e}");
  CHECK(escape_terminal("\xff\xc3") == "\\xff\\xc3");
  CHECK(escape_terminal("a\\b") == "a\\\\b");
  CHECK(escape_terminal("测", {true, false, false}) == "\\u{6d4b}");
  CHECK(escape_terminal("a\nb\x1b", {false, true, true}) == "a\nb\\x1b");
}

TEST_CASE("a field has neither tab nor newline in it and printf %b undoes it") {
  CHECK(escape_field("a\\b\tc\nd\x01\xff") == "a\\\\b\\tc\\nd\\0001\\0377");
  CHECK(escape_field("测试") == "测试");
  CHECK(escape_field("\0"s) == "\\0000");
}

TEST_CASE("a shell reads a quoted text as one word") {
  CHECK(quote_shell("it's $HOME `x`\n") == "'it'\\''s $HOME `x`\n'");
  CHECK(quote_shell("") == "''");
}

TEST_CASE("a word of a command is shown as a shell reads it, and nothing in it is obeyed by a terminal") {
  CHECK(shell_word("--size=5", false) == "--size=5");
  CHECK(shell_word("", false) == "''");
  CHECK(shell_word("it's a\\b $x", false) == "'it'\\''s a\\b $x'");
  CHECK(shell_word("测", false) == "'测'");
  CHECK(shell_word("测", true) == "$'\\346\\265\\213'");
  CHECK(shell_word("a\\\n'\t\r", false) == "$'a\\\\\\n\\'\\t\\r'");
  CHECK(shell_word("\x1b[0m\xff\x7f"
                   "7",
                   false) == "$'\\033[0m\\377\\1777'");
  CHECK(shell_word("\xc2\x9b\xe2\x80\xae", false) == "$'\\302\\233\\342\\200\\256'");
}

TEST_CASE("long texts are cut between characters when they are quoted for a person") {
  CHECK(in_quotes("x") == "'x'");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "测";
  const std::string shown = in_quotes(many);
  CHECK(utf8_valid(shown));
  CHECK(shown.size() < 100);
}

TEST_CASE("UTF-8 is read strictly") {
  CHECK(utf8_valid("a\xc3\xa9\xe6\xb5\x8b\xf0\x9f\x98\x80"));
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf8\x88\x80\x80\x80", "\xc3", "\xe6\xb5", "\xf0\x9f\x98"}) {
    CHECK_FALSE(utf8_valid(bad));
  }
}

TEST_CASE("base64 goes there and back, and is read strictly") {
  for (const std::string& bytes : {""s, "a"s, "ab"s, "abc"s, "\0\xff\x10"s})
    CHECK(base64_decode(base64_encode(bytes)) == bytes);
  CHECK(base64_encode("fooba") == "Zm9vYmE=");
  for (const char* bad :
       {"a", "ab", "abc", "ab=c", "a===", "====", "YQ==YQ==", "YR==", "YWJ=", "Y Q=", "YQ=\n"}) {
    INFO(bad);
    CHECK_FALSE(base64_decode(bad));
  }
}
