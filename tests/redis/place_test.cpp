// place_test - the URL of a spool on a server, and what is refused in one.
#include "core/redis/wire/redis_place.h"

// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

RedisPlace place_of(const std::string& spool) {
  const Result<RedisPlace> place = parse_redis_place(spool);
  INFO((place.ok() ? std::string() : place.error().text));
  REQUIRE(place.ok());
  return *place;
}

Error refusal_of(const std::string& spool) {
  const Result<RedisPlace> place = parse_redis_place(spool);
  INFO(spool);
  REQUIRE(!place.ok());
  return place.error();
}

}  // namespace

TEST_CASE("a host alone is enough") {
  const RedisPlace place = place_of("redis://h1");
  REQUIRE(place.hosts.size() == 1);
  CHECK(place.hosts[0].name == "h1");
  CHECK(place.hosts[0].port == 6379);
  CHECK(place.prefix == "fq");
  CHECK(place.database == 0);
  CHECK(place.user.empty());
}

TEST_CASE("several hosts, a user, a database and options are taken apart") {
  const RedisPlace place =
      place_of("redis://me@h1:7000,[::1]:7001,10.0.0.3/2?prefix=shop&connect=500ms&timeout=3s&poll=4s");
  REQUIRE(place.hosts.size() == 3);
  CHECK(place.hosts[0].port == 7000);
  CHECK(place.hosts[1].name == "::1");
  CHECK(place.hosts[1].port == 7001);
  CHECK(place.hosts[2].name == "10.0.0.3");
  CHECK(place.user == "me");
  CHECK(place.database == 2);
  CHECK(place.prefix == "shop");
  CHECK(place.connect_ms == 500);
  CHECK(place.call_ms == 3'000);
  CHECK(place.poll_ms == 4'000);
}

TEST_CASE("what an answer is to mean is said by name, or left to what the server has") {
  CHECK(!place_of("redis://h").level);
  CHECK(place_of("redis://h?durability=async").level == Level::async);
  CHECK(place_of("redis://h?durability=replica").level == Level::replica);
  CHECK(place_of("redis://h?durability=strict").level == Level::strict);
  for (const char* wrong : {"", "Async", "fsync", "replica "})
    CHECK(refusal_of("redis://h?durability=" + std::string(wrong)).kind == ErrorKind::usage);
}

TEST_CASE("a socket has its database among the options") {
  const RedisPlace place = place_of("redis+unix:///run/r.sock?db=3&prefix=a.b-c_9");
  CHECK(place.hosts.empty());
  CHECK(place.socket == "/run/r.sock");
  CHECK(place.database == 3);
  CHECK(place.prefix == "a.b-c_9");
}

TEST_CASE("what is wrong in a URL is refused and said") {
  const std::pair<const char*, const char*> wrong[] = {
      {"redis://", "no host"},
      {"redis://h1,,h2", "no host"},
      {"redis://h:0", "port"},
      {"redis://h:65536", "port"},
      {"redis://h:x", "port"},
      {"redis://[::1]x", "port"},
      {"redis://h/x", "database"},
      {"redis://h/99999999999", "database"},
      {"redis://@h", "no user"},
      {"redis://h?prefix=", "prefix"},
      {"redis://h?prefix=a{b}", "prefix"},
      {"redis://h?prefix=a:b", "prefix"},
      {"redis://h?db=1", "option that there is not"},
      {"redis://h?colour=red", "option that there is not"},
      {"redis://h?prefix", "without a value"},
      {"redis://h?timeout=5", "time"},
      {"redis://h?connect=0s", "time"},
      {"redis+unix://run/r.sock", "absolute path"},
      {"redis+unix://", "absolute path"},
  };
  for (const auto& [spool, part] : wrong) {
    const Error error = refusal_of(spool);
    CAPTURE(spool, error.text);
    CHECK(error.kind == ErrorKind::usage);
    CHECK(error.text.find(part) != std::string::npos);
  }
  CHECK(refusal_of("redis://h?prefix=" + std::string(65, 'p')).kind == ErrorKind::usage);
  CHECK(place_of("redis://h?prefix=" + std::string(64, 'p')).prefix.size() == 64);
  CHECK(refusal_of("redis+unix:///" + std::string(107, 'p')).kind == ErrorKind::usage);
}

TEST_CASE("a password in a URL is refused and not repeated") {
  for (const char* spool : {"redis://me:secret@h", "redis://:secret@h", "redis://me:secret@h:x/y?z"}) {
    const Error error = refusal_of(spool);
    CHECK(error.kind == ErrorKind::usage);
    CHECK(error.text.find("secret") == std::string::npos);
    CHECK(error.text.find("FQ_REDIS_PASSWORD_FILE") != std::string::npos);
  }
}

TEST_CASE("TLS is by the scheme, and has all else") {
  CHECK(place_of("rediss://me@h:7/2?prefix=p").is_sealed);
  CHECK(place_of("rediss://me@h:7/2?prefix=p").prefix == "p");
  CHECK_FALSE(place_of("redis://h").is_sealed);
  CHECK_FALSE(place_of("redis+unix:///s").is_sealed);
}

}  // namespace fq::test
