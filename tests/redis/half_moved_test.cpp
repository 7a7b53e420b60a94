// half_moved_test - of a shard that goes to another server, each function, and whatever a client asks for, is
// refused wherever some of its keys are gone, whichever those are; nothing is written then, and nothing is
// amiss once all are there.
//
// The functions are those that the server has of us; their calls, and the keys of each, are those that
// clients send. A run moves each key alone, as the first or as the last one; with FQ_ALL both.
#include "tests/redis/full_shard.h"

// System.
#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <random>
#include <set>
#include <thread>
// Tests.
#include "tests/knobs.h"

namespace fq::test {

namespace {

using CallWords = std::vector<std::string>;

/// What clients call while it lives, of each function once with the same number of keys.
class CallsSeen {
 public:
  explicit CallsSeen(TestCluster& cluster) : cluster_(cluster) {
    set("0");
    for (size_t i = 0; i < cluster_.size(); ++i) command(cluster_.node(i), {"SLOWLOG", "RESET"});
  }
  ~CallsSeen() { set("-1"); }
  CallsSeen(const CallsSeen&) = delete;
  CallsSeen& operator=(const CallsSeen&) = delete;

  /// By function, without the name of the library; `tag`: only those of its shard.
  std::map<std::string, CallWords> all(const std::string& tag = {}) const {
    std::map<std::string, CallWords> found;
    for (size_t i = 0; i < cluster_.size(); ++i) {
      for (const Reply& each : command(cluster_.node(i), {"SLOWLOG", "GET", "-1"}).items) {
        const CallWords words = words_of(each.at(3));
        if (!words[0].starts_with("FCALL") || (!tag.empty() && words.at(3) != tag + "h")) continue;
        found.emplace(words[1].substr(words[1].find('_', 3) + 1), words);
      }
    }
    return found;
  }

 private:
  static CallWords words_of(const Reply& arguments) {
    CallWords words;
    for (const Reply& each : arguments.items) words.push_back(each.text);
    return words;
  }
  void set(const char* slower_than_us) {
    for (size_t i = 0; i < cluster_.size(); ++i) {
      command(cluster_.node(i),
              {"CONFIG", "SET", "slowlog-log-slower-than", slower_than_us, "slowlog-max-len", "100000"});
    }
  }
  TestCluster& cluster_;
};

/// As the server has them.
std::set<std::string> all_functions(const TestServer& server) {
  const std::string library(redis_library().name);
  std::set<std::string> names;
  const Reply found = command(server, {"FUNCTION", "LIST", "LIBRARYNAME", library});
  const Reply& told = found.at(0);
  for (size_t i = 0; i + 1 < told.items.size(); i += 2) {
    if (told.at(i).text != "functions") continue;
    for (const Reply& function : told.at(i + 1).items)
      names.insert(function.at(1).text.substr(library.size() + 1));
  }
  return names;
}

/// A slot on its way from one server to another, there and back.
class SlotOnItsWay {
 public:
  SlotOnItsWay(TestCluster& cluster, std::string tag)
      : cluster_(cluster),
        tag_(std::move(tag)),
        slot_(std::to_string(slot_of(tag_))),
        from_(cluster.owner_of(tag_)),
        to_((from_ + 1) % cluster.size()),
        keys_(cluster.keys_of(tag_, from_)),
        source_(connect(from_)),
        target_(connect(to_)) {}

  const std::vector<std::string>& keys() const { return keys_; }
  void begin() { cluster_.begin_move(tag_, from_, to_); }
  void begin_at_target_only() { setslot(*target_, "IMPORTING", cluster_.name_of(from_)); }
  void move(const std::vector<std::string>& keys) { migrate(*source_, to_, keys); }
  void move_all_there_are() {  // while others remove them
    for (std::vector<std::string> keys; !(keys = cluster_.keys_of(tag_, from_)).empty();) {
      keys.resize(std::min<size_t>(keys.size(), 500));
      migrate(*source_, to_, keys);
    }
  }
  /// All is again where it was.
  void turn_back() {
    setslot(*source_, "STABLE");
    migrate(*target_, from_, cluster_.keys_of(tag_, to_));
    setslot(*target_, "STABLE");
  }
  void end_at_target_only() { setslot(*target_, "NODE", cluster_.name_of(to_)); }
  void end() {
    move(cluster_.keys_of(tag_, from_));
    cluster_.end_move(tag_, to_);
  }
  std::string says(bool at_target, const CallWords& words, bool asks = false) {
    Server& server = at_target ? *target_ : *source_;
    if (asks) say(server, {"ASKING"});
    const Reply reply = say(server, words);
    return reply.kind == Reply::Kind::error ? reply.text : "done";
  }
  /// What all keys of the slot have, on both.
  std::string digest() {
    std::string all;
    for (const bool at_target : {false, true}) {
      CallWords words = {"DEBUG", "DIGEST-VALUE"};
      std::vector<std::string> keys = cluster_.keys_of(tag_, at_target ? to_ : from_);
      std::sort(keys.begin(), keys.end());
      words.insert(words.end(), keys.begin(), keys.end());
      const Reply told = say(at_target ? *target_ : *source_, words);
      for (size_t i = 0; i < keys.size(); ++i) all += keys[i] + " " + told.at(i).text + "\n";
      all += "--\n";
    }
    return all;
  }

 private:
  std::unique_ptr<Server> connect(size_t i) {
    RedisPlace place;
    place.socket = cluster_.node(i).socket();
    return answered(Server::open(place, ""));
  }
  static Reply say(Server& server, const CallWords& words) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    return answered(server.call(views));
  }
  static void order(Server& server, const CallWords& words) {
    const Reply reply = say(server, words);
    INFO(reply.text);
    REQUIRE(reply.kind != Reply::Kind::error);
  }
  void setslot(Server& server, const char* what, const std::string& node = {}) {
    CallWords words = {"CLUSTER", "SETSLOT", slot_, what};
    if (!node.empty()) words.push_back(node);
    order(server, words);
  }
  void migrate(Server& server, size_t to, const std::vector<std::string>& keys) {
    if (keys.empty()) return;
    const std::string address = cluster_.address(to), port = address.substr(address.find(':') + 1);
    CallWords words = {"MIGRATE", "127.0.0.1", port, "", "0", "5000", "KEYS"};
    words.insert(words.end(), keys.begin(), keys.end());
    order(server, words);
  }

  TestCluster& cluster_;
  const std::string tag_, slot_;
  const size_t from_, to_;
  const std::vector<std::string> keys_;
  std::unique_ptr<Server> source_, target_;
};

/// Which of its keys have gone.
struct Gone {
  std::string what;
  std::vector<std::string> keys;
};

std::vector<Gone> all_halves(std::vector<std::string> keys, const std::string& root, uint64_t seed) {
  const auto but = [&](const std::string& one) {
    std::vector<std::string> others = keys;
    std::erase(others, one);
    return others;
  };
  std::vector<Gone> all = {
      {"none", {}}, {"the root", {root}}, {"all but the root", but(root)}, {"all", keys}};
  std::mt19937_64 random(seed);
  std::shuffle(keys.begin(), keys.end(), random);
  for (const std::string& each : keys) {
    if (!is_whole_form() && !is_all_tried() && random() % 3 != 0) continue;
    const bool is_first = random() % 2 == 0;
    if (is_first || is_all_tried()) all.push_back({"first " + each, {each}});
    if (!is_first || is_all_tried()) all.push_back({"last " + each, but(each)});
  }
  return all;
}

/// What `}:` and another colon stand around.
std::set<std::string> kinds_of(const std::vector<std::string>& keys) {
  std::set<std::string> kinds;
  for (const std::string& key : keys) {
    const std::string name = key.substr(key.find("}:") + 2);
    kinds.insert(name.substr(0, name.find(':')));
  }
  return kinds;
}

/// Functions that work on the key that they are given, and on no other.
const std::set<std::string> kOfOneKey = {"copied", "make", "policy", "retitle", "shorten", "whole"};
bool is_of_one_key(const std::string& function) { return kOfOneKey.contains(function); }

/// The calls of functions that work on a shard, as of this one, whichever they were seen on.
std::map<std::string, CallWords> calls_of_shard(const CallsSeen& seen, const std::string& tag) {
  std::map<std::string, CallWords> calls = seen.all(tag);
  for (auto& [function, words] : seen.all()) {
    if (!words.at(3).ends_with("}:h")) continue;
    CallWords here = words;
    const size_t keys = std::stoul(words[2]);
    for (size_t key = 3; key < 3 + keys; ++key) here[key] = tag + here[key].substr(here[key].find("}:") + 2);
    calls.emplace(function, here);
  }
  return calls;
}

/// That no client calls here, and why. Any other one that is new has to be called by what fills the shard.
const std::set<std::string> kNotCalled = {
    "rename",     // of servers that are in no cluster
    "used",       // works on no key
    "timetable",  // is for times that came a minute ago, and called as `arrange` is
};

/// Each is refused by both servers, and `slot` has what it had.
void nothing_is_done(SlotOnItsWay& slot, const std::map<std::string, CallWords>& calls, const Gone& gone) {
  const std::string before = slot.digest();
  for (const auto& [function, words] : calls) {
    const bool is_root_gone = std::count(gone.keys.begin(), gone.keys.end(), words.at(3)) > 0;
    if (is_of_one_key(function) && !is_root_gone) continue;  // which it needs, and nothing else
    const std::string here = slot.says(false, words), there = slot.says(true, words);
    CAPTURE(function, here, there);
    CHECK((here.starts_with("TRYAGAIN") || here.starts_with("ASK ")));
    CHECK(there.starts_with("MOVED"));
    if (gone.keys.size() == slot.keys().size()) continue;  // who is sent there then is served
    if (!is_of_one_key(function)) CHECK(slot.says(true, words, true).starts_with("TRYAGAIN"));
  }
  CHECK(slot.digest() == before);
}

void is_all_well(const FullShard& full) {
  for (const char* const name : {"default", "other", "wide"}) {
    CAPTURE(name);
    const auto queue = full.opened(name);
    const CheckReport report = answered(queue->check());
    for (const std::string& line : report.findings.lines) UNSCOPED_INFO(line);
    CHECK(report.findings.empty());
  }
}

}  // namespace

TEST_CASE("no function does anything where keys of its shard are gone, whichever those are", "[halves]") {
  std::optional<CallsSeen> seen;
  const FullShard full([&] { seen.emplace(three()); });
  const std::string tag = full.tag();
  const std::map<std::string, CallWords> calls = calls_of_shard(*seen, tag);
  std::set<std::string> missed = all_functions(three().node(0));
  REQUIRE(missed.size() > 20);
  for (const auto& [function, words] : seen->all()) missed.erase(function);
  CHECK(missed == kNotCalled);
  seen.reset();
  SlotOnItsWay slot(full.s.cluster, tag);
  CHECK(kinds_of(slot.keys()).size() > 40);
  const std::string whole = slot.digest();
  const uint64_t seed = seed_of_run();
  CAPTURE(seed);
  for (const Gone& gone : all_halves(slot.keys(), tag + "h", seed)) {
    CAPTURE(gone.what);
    slot.begin();
    slot.move(gone.keys);
    nothing_is_done(slot, calls, gone);
    slot.turn_back();
    REQUIRE(slot.digest() == whole);
  }
}

TEST_CASE("no function that has one key does anything where that is gone", "[halves]") {
  std::optional<CallsSeen> seen;
  const FullShard full([&] { seen.emplace(three()); });
  const std::map<std::string, CallWords> calls = seen->all();
  seen.reset();
  size_t tried = 0;
  for (const auto& [function, words] : calls) {
    if (!is_of_one_key(function)) continue;
    SlotOnItsWay slot(full.s.cluster, words.at(3));
    slot.begin();
    slot.move(slot.keys());
    nothing_is_done(slot, {{function, words}}, {function, slot.keys()});
    slot.turn_back();
    ++tried;
  }
  CHECK(tried == kOfOneKey.size());
}

TEST_CASE("while only the server that gets a shard knows of it, it does nothing of it", "[halves]") {
  std::optional<CallsSeen> seen;
  const FullShard full([&] { seen.emplace(three()); });
  const std::string tag = full.tag();
  const std::map<std::string, CallWords> calls = calls_of_shard(*seen, tag);
  seen.reset();
  SlotOnItsWay slot(full.s.cluster, tag);
  const std::string whole = slot.digest();
  slot.begin_at_target_only();
  for (const auto& [function, words] : calls) {
    CAPTURE(function);
    CHECK(slot.says(true, words).starts_with("MOVED"));
    if (!is_of_one_key(function)) CHECK(slot.says(true, words, true).starts_with("TRYAGAIN"));
  }
  CHECK(slot.digest() == whole);
  is_all_well(full);  // the other one serves on
  slot.begin();
  slot.move(slot.keys());
  slot.end_at_target_only();
  for (const auto& [function, words] : calls) {
    CAPTURE(function);
    const std::string here = slot.says(false, words);  // or has heard of it
    CHECK((here.starts_with("ASK ") || here.starts_with("MOVED ")));
  }
  is_all_well(full);  // which sends who comes to it
  slot.end();
  is_all_well(full);
}

TEST_CASE("a check and a repair by who knew where a shard was find it where it is now", "[halves]") {
  const FullShard full;
  SlotOnItsWay slot(full.s.cluster, full.tag());
  const auto queue = full.opened("default");
  REQUIRE(answered(queue->check()).findings.empty());
  slot.begin();
  slot.move(slot.keys());
  slot.end();
  CHECK(answered(queue->check()).findings.empty());
  CHECK(answered(queue->check({.repair = true})).repairs.empty());
  is_all_well(full);
}

TEST_CASE("nothing is left of a queue whose keys go to another server while it is removed",
          "[halves][threads]") {
  for (int round = 0; round < (is_whole_form() || is_all_tried() ? 12 : 4); ++round) {
    OnCluster s(1);
    const std::vector<NewMessage> many(1'000, message_for("t"));
    for (int i = 0; i < 10; ++i)
      REQUIRE(!answered(s.queue->push(many, {.durability = Durability::lazy})).error);
    s.queue.reset();
    SlotOnItsWay slot(s.cluster, s.tags().at(0));
    auto removed = std::async(std::launch::async, [&] { return real_time_engine().remove(s.location); });
    std::this_thread::sleep_for(
        std::chrono::milliseconds(5 * round));  // the moment in which it begins to move
    slot.begin();
    slot.move_all_there_are();
    slot.end();
    if (!removed.get()) REQUIRE(real_time_engine().remove(s.location).ok());  // which was told to try again
    CHECK(all_keys(s.cluster, s.prefix).empty());
  }
}

TEST_CASE("whatever is asked of a shard of which keys are gone is refused, and done once all are there",
          "[halves]") {
  const FullShard full;
  const std::string tag = full.tag();
  SlotOnItsWay slot(full.s.cluster, tag);
  const uint64_t seed = seed_of_run();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::vector<FullShard::Asked> all = full.all_that_is_asked();
  std::vector<Gone> halves = all_halves(slot.keys(), tag + "h", seed);
  if (!is_all_tried()) halves.resize(6);  // each wait for what does not come takes its time
  const auto hasty = full.opened("default", "&timeout=50ms");
  for (const Gone& gone : halves) {
    slot.begin();
    slot.move(gone.keys);
    const std::string before = slot.digest();
    for (const FullShard::Asked& each : all) {
      if (!is_all_tried() && random() % 2 == 0) continue;
      CAPTURE(gone.what, each.what);
      const std::optional<Error> refused = each.refusal(*hasty);
      REQUIRE(refused);
      INFO(refused->text);
      CHECK(refused->kind == ErrorKind::later);
    }
    CHECK(slot.digest() == before);
    slot.turn_back();
  }
  slot.begin();
  slot.end();
  is_all_well(full);
  const auto queue = full.opened("default");
  for (const FullShard::Asked& each : all) {
    const std::optional<Error> refused = each.refusal(*queue);
    CAPTURE(each.what, refused ? refused->text : std::string());
    CHECK(!refused);
  }
  is_all_well(full);
}

}  // namespace fq::test
