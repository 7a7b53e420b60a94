#include <string>

#include "core/base/text/json_reader.h"
#include "core/base/text/json_writer.h"
#include "tests/catch.h"
#include "tests/processor_time.h"

using namespace fq;
using namespace std::string_literals;

TEST_CASE("a line is read with its keys in their order and its numbers as written") {
  const JsonRead read = read_json_object(
      R"( {"a":"x\n\u6d4b\ud83d\ude00","n":-1.50e3,"t":true,"f":false,"z":null,"o":{"k":"v"},"l":[1,2]} )");
  REQUIRE(read.fault == "");
  const auto& members = read.object.members;
  REQUIRE(members.size() == 7);
  CHECK(members[0].value.text == "x\n测😀");
  CHECK(members[1].value.text == "-1.50e3");
  CHECK(members[2].value.boolean);
  CHECK(members[4].value.kind == JsonValue::Kind::null);
  CHECK(members[5].value.members[0].value.text == "v");
  CHECK(members[6].value.members[1].value.text == "2");
}

TEST_CASE("a line that is not strictly JSON is refused with a reason") {
  for (const char* line : {"",
                           "x",
                           "[]",
                           "\"a\"",
                           "{",
                           "{}x",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{'a':1}",
                           "{\"a\":01}",
                           "{\"a\":1.}",
                           "{\"a\":.5}",
                           "{\"a\":+1}",
                           "{\"a\":NaN}",
                           "{\"a\":tru}",
                           "{\"a\":\"\\x\"}",
                           "{\"a\":\"\\u12\"}",
                           "{\"a\":\"\\ud800\"}",
                           "{\"a\":\"\\ud800\\u0041\"}",
                           "{\"a\":\"\\udc00\"}",
                           "{\"a\":\"x",
                           "{\"a\":\"\t\"}",
                           "{\"a\":1,\"a\":2}",
                           "{\"a\":\"\xff\"}",
                           "{\"a\":1}{\"b\":2}"}) {
    INFO(line);
    CHECK(read_json_object(line).fault != "");
  }
}

TEST_CASE("the place of a fault is told by its line, where there are several") {
  CHECK(read_json_object("{\"a\":1,}").fault == "has no key in quotes at character 8");
  CHECK(read_json_object("{\n  \"a\":1,\n}").fault == "has no key in quotes in line 3 at character 1");
}

TEST_CASE("an object of many keys is read at once") {
  std::string line = "{\"k\":0";
  for (int i = 0; i < 200'000; ++i) line += ",\"k" + std::to_string(i) + "\":0";
  const double start_s = test::processor_s();
  CHECK(read_json_object(line + "}").fault.empty());
  CHECK(read_json_object(line + ",\"k77777\":0}").fault == "has the key 'k77777' twice");
  const double took_s = test::processor_s() - start_s;
  CHECK(took_s < 15);  // 0.1 s; what is quadratic takes more than a minute
}

TEST_CASE("objects may lie in objects, but not without end") {
  CHECK(read_json_object("{\"a\":{\"b\":{}}}").fault == "");
  std::string deep;
  for (int i = 0; i < 1'000; ++i) deep += "{\"a\":";
  CHECK(read_json_object(deep).fault == "is nested too deeply");
}

TEST_CASE("written text is valid JSON whatever it holds") {
  std::string line;
  JsonWriter(line)
      .begin_object()
      .key("a")
      .text("\"\\\n\x01\x7f\xff测")
      .key("n")
      .number(uint64_t{5})
      .key("d")
      .number(0.5)
      .key("z")
      .null()
      .end_object();
  CHECK(line == "{\"a\":\"\\\"\\\\\\n\\u0001\\u007f\xef\xbf\xbd测\",\"n\":5,\"d\":0.5,\"z\":null}");
  CHECK(read_json_object(line).fault == "");
}

TEST_CASE("a payload is text where it is UTF-8 and base64 elsewhere, and both keys are always there") {
  std::string text, binary;
  JsonWriter(text).begin_object().payload("hi").end_object();
  JsonWriter(binary).begin_object().payload("\xff").end_object();
  CHECK(text == R"({"payload":"hi","payload_base64":null})");
  CHECK(binary == R"({"payload":null,"payload_base64":"/w=="})");
}

TEST_CASE("whatever was written is read back the same") {
  std::string all;
  for (int byte = 0; byte < 128; ++byte) all.push_back(static_cast<char>(byte));
  std::string line;
  JsonWriter(line).begin_object().key("a").text(all).end_object();
  CHECK(read_json_object(line).object.members[0].value.text == all);
}
