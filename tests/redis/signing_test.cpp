// signing_test - what is signed of a command, to the byte, and what is not genuine.
#include "core/redis/signing/command_signer.h"

// fq, below us.
#include "core/base/policy.h"
// Tests.
#include "tests/catch.h"
#include "tests/fakes/fake_clock.h"
#include "tests/redis/hex.h"

namespace fq::test {

namespace {

NewMessage message_of_a() {
  NewMessage message;
  message.tenant = "a/b";
  message.payload = as_bytes("abc");
  message.command = JobCommand{{"sh", "-c"}, "/d", {"K=1"}};
  message.schedule = "s";
  return message;
}

Signature of_tests(Signature::Of of) {
  return {of, std::string(kKeyNameBytes, 'n'), 258, std::string(kSignatureSaltBytes, 'r'), {}};
}

struct Signing {
  FakeClock clock;
  std::shared_ptr<const CommandKey> key = std::make_shared<const CommandKey>("the key of this test");
  CommandSigner signer{key, "q", &clock};
  NewMessage message = message_of_a();
  std::string signature = signer.sign(message).value();
  std::string fault(std::string_view of) const { return signer.fault(message, of, kUnlimited); }
};

}  // namespace

TEST_CASE("hashes are those of the standards") {
  CHECK(hex(CommandKey("Jefe").mac("what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex(hash_of("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(CommandKey("a").name() != CommandKey("b").name());
  CHECK(CommandKey("a").name().size() == kKeyNameBytes);
}

TEST_CASE("these bytes are signed of a command") {
  const std::string head = "1d000000" + hex("fq: a command in a message, 1");
  const std::string of_both =
      "0201000000000000"
      "10000000" +
      hex(std::string(16, 'r')) + "01000000" + hex("q") + "03000000" + hex("a/b");
  const std::string rest =
      "02000000"
      "02000000" +
      hex("sh") + "02000000" + hex("-c") + "02000000" + hex("/d") +
      "01000000"
      "03000000" +
      hex("K=1") +
      "20000000"
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  CHECK(hex(signed_text("q", message_of_a(), of_tests(Signature::Of::push))) ==
        head + "01" + of_both + "00000000" + rest);
  CHECK(hex(signed_text("q", message_of_a(), of_tests(Signature::Of::schedule))) ==
        head + "02" + of_both + "01000000" + hex("s") + rest);
}

TEST_CASE("no two messages have the same text, wherever their parts begin and end") {
  const Signature signature = of_tests(Signature::Of::push);
  const auto text = [&](std::string_view queue, std::string_view tenant, std::vector<std::string> argv,
                        std::string cwd, std::vector<std::string> env) {
    NewMessage message;
    message.tenant = tenant;
    message.command = JobCommand{std::move(argv), std::move(cwd), std::move(env)};
    return signed_text(queue, message, signature);
  };
  const std::string one = text("q", "t", {"a", "b"}, "/", {"C=1"});
  CHECK(text("qt", "", {"a", "b"}, "/", {"C=1"}) != one);
  CHECK(text("q", "t", {"ab"}, "/", {"C=1"}) != one);
  CHECK(text("q", "t", {"a", "b", "/"}, "", {"C=1"}) != one);
  CHECK(text("q", "t", {"a"}, "b", {"/", "C=1"}) != one);
  CHECK(text("q", "t", {"a", "b"}, "/C=1", {}) != one);
  CHECK(text("q", "t", {"a", "b", ""}, "/", {"C=1"}) != one);
}

TEST_CASE("a signature lies in these bytes, and one that is cut or longer is none") {
  Signature signature = of_tests(Signature::Of::schedule);
  signature.mac = std::string(kMacBytes, 'm');
  const std::string bytes = signature_bytes(signature);
  CHECK(hex(bytes) == "0102" + hex(std::string(8, 'n')) + "0201000000000000" + hex(std::string(16, 'r')) +
                          hex(std::string(32, 'm')));
  const std::optional<Signature> read = read_signature(bytes);
  REQUIRE(read.has_value());
  CHECK(read->at_wall_ms == 258);
  for (size_t cut = 0; cut < bytes.size(); ++cut) CHECK_FALSE(read_signature(bytes.substr(0, cut)));
  CHECK_FALSE(read_signature(bytes + "x"));
  for (const char bad : {'\0', '\3'}) {
    std::string other = bytes;
    other[1] = bad;
    CHECK_FALSE(read_signature(other));
  }
}

TEST_CASE("what was signed is genuine, and no part of it may be another") {
  Signing s;
  CHECK(s.fault(s.signature).empty());
  CHECK(s.signer.sign(s.message).value() != s.signature);  // drawn anew
  const auto altered = [&](auto change) {
    NewMessage other = message_of_a();
    change(other);
    return s.signer.fault(other, s.signature, kUnlimited);
  };
  constexpr const char* kOther =
      "its command is signed for another queue, tenant or schedule, or it or its payload was changed";
  CHECK(altered([](NewMessage& m) { m.tenant = "a"; }) == kOther);
  CHECK(altered([](NewMessage& m) { m.payload = as_bytes("abd"); }) == kOther);
  CHECK(altered([](NewMessage& m) { m.payload = {}; }) == kOther);
  CHECK(altered([](NewMessage& m) { m.command->argv[0] = "bash"; }) == kOther);
  CHECK(altered([](NewMessage& m) { m.command->argv.pop_back(); }) == kOther);
  CHECK(altered([](NewMessage& m) { m.command->cwd = "/e"; }) == kOther);
  CHECK(altered([](NewMessage& m) { m.command->env = {"LD_PRELOAD=/e"}; }) == kOther);
  CHECK(altered([](NewMessage& m) { m.command->env.clear(); }) == kOther);
  CHECK(s.signer.of("r").fault(s.message, s.signature, kUnlimited) == kOther);
}

TEST_CASE("no byte of a signature may be another") {
  Signing s;
  for (size_t i = 0; i < s.signature.size(); ++i) {
    std::string other = s.signature;
    other[i] = static_cast<char>(other[i] ^ 1);
    CAPTURE(i);
    CHECK_FALSE(s.fault(other).empty());
  }
}

TEST_CASE("it is said why one is not genuine") {
  Signing s;
  CHECK(s.fault("") == "its command is not signed");
  CHECK(s.fault("x") == "its command is signed in no way that this fq knows");
  const CommandSigner other(std::make_shared<const CommandKey>("another key"), "q", &s.clock);
  CHECK(s.fault(other.sign(s.message).value()) == "its command is signed with another key");
  s.clock.advance(3'600'000);
  CHECK(s.signer.fault(s.message, s.signature, 3'600'000).empty());
  s.clock.advance(1'000);
  CHECK(s.signer.fault(s.message, s.signature, 3'600'000) ==
        "its command was signed 1h1s ago, and command_age of the queue is 1h");
}

TEST_CASE("a signature's age counts from when its message is due") {
  Signing s;
  const auto is_good_after = [&](const std::string& signature, int64_t ms) {
    FakeClock later;
    later.set_wall_ms(s.clock.wall_ms() + ms);
    return CommandSigner(s.key, "q", &later).fault(s.message, signature, 1'000).empty();
  };
  NewMessage delayed = s.message;
  delayed.delay_ms = 10'000;
  NewMessage timed = s.message;
  timed.at_wall_ms = s.clock.wall_ms() + 10'000;
  NewMessage quiet = s.message;
  quiet.debounce = "k";
  quiet.quiet_ms = 3'000;
  quiet.max_wait_ms = 10'000;
  for (const NewMessage& each : {delayed, timed, quiet}) {
    const std::string signature = s.signer.sign(each).value();
    CHECK(is_good_after(signature, 11'000));
    CHECK_FALSE(is_good_after(signature, 11'001));
  }
  NewMessage past = s.message;
  past.at_wall_ms = 5;
  CHECK(is_good_after(s.signer.sign(past).value(), 1'000));
  CHECK_FALSE(is_good_after(s.signer.sign_again(s.message, s.signature).value(), 1'001));
}

TEST_CASE("one of a schedule has no age, and is of that schedule alone") {
  Signing s;
  const std::string signature = s.signer.sign_schedule(s.message).value();
  s.clock.advance(int64_t{400} * 86'400'000);
  CHECK(s.signer.fault(s.message, signature, 1'000).empty());
  s.message.schedule = "t";
  CHECK_FALSE(s.fault(signature).empty());
  CHECK(s.fault(s.signer.sign(s.message).value()).empty());
}

TEST_CASE("without a key nothing is signed, and it is said what to do") {
  FakeClock clock;
  const CommandSigner signer(nullptr, "q", &clock);
  const Result<std::string> refused = signer.sign(message_of_a());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::config);
  CHECK(refused.error().text.find("FQ_REDIS_COMMAND_KEY_FILE") != std::string::npos);
  CHECK(signer.sign(NewMessage()).value().empty());
}

}  // namespace fq::test
