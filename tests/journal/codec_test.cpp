// codec_test - every record comes back as it was written, and nothing else comes back at all.
#include "core/journal/codec.h"

// System.
#include <algorithm>
#include <random>
// fq, below us.
#include "core/base/crc32c.h"
#include "tests/catch.h"
#include "tests/knobs.h"

using namespace fq;

namespace {

const FileKey kKey{7, 0x0123456789abcdef};

std::string terms_text() { return encode_terms({.ttl_ms = 5000}); }

MessageItem full_item() {
  static const std::string terms = terms_text();
  MessageItem item;
  item.tenant = "acme";
  item.key = "k1";
  item.tags = "tagbytes";
  item.terms = terms;
  item.payload = as_bytes("resize cat.png");
  item.payload_bytes = item.payload.size();
  item.priority = -5;
  item.attempts_max = 3;
  item.due_wall_ms = 99;
  return item;
}

void check_same(const MessageItem& a, const MessageItem& b) {
  CHECK(a.tenant == b.tenant);
  CHECK(a.key == b.key);
  CHECK(a.tags == b.tags);
  CHECK(a.terms == b.terms);
  CHECK(as_text(a.payload) == as_text(b.payload));
  CHECK(a.payload_bytes == b.payload_bytes);
  CHECK(a.blob.has_value() == b.blob.has_value());
  CHECK(a.blob_crc == b.blob_crc);
  CHECK(a.priority == b.priority);
  CHECK(a.attempts_max == b.attempts_max);
  CHECK(a.due_wall_ms == b.due_wall_ms);
}

EventDetail full_detail() {
  EventDetail detail;
  detail.due_wall_ms = 11;
  detail.until_wall_ms = 22;
  detail.first_serial = Serial{33};
  detail.pid = 44;
  detail.pid_started = 55;
  detail.attempts_max = 6;
  detail.exit = int16_t{1};
  detail.signal = int16_t{9};
  detail.reason = "no such cat";
  detail.stderr_tail = "meow\n";
  return detail;
}

MovedRecord full_moved() {
  MovedRecord moved;
  moved.id = MessageId{5};
  moved.pushed_wall_ms = 1;
  moved.state = SlotState::leased;
  moved.state_wall_ms = 2;
  moved.deliveries = 3;
  moved.attempts = 4;
  moved.attempts_max = 5;
  moved.crashes = 6;
  moved.serial = Serial{7};
  moved.pid = 8;
  moved.pid_started = 9;
  moved.error_wall_ms = 10;
  moved.error.exit = int16_t{2};
  moved.error.reason = "broke";
  moved.past = {{RecordType::pushed, 1, 0, 0}, {RecordType::leased, 2, 3, 4}};
  moved.message = full_item();
  return moved;
}

std::vector<std::byte> sealed(Body& body, RecordHeader header = {}, MessageId first = MessageId{0}) {
  const HeaderBytes bytes = encode_header(file_seed(kKey), header, body, first);
  std::vector<std::byte> record(bytes.size() + body.bytes.size());
  std::copy(bytes.begin(), bytes.end(), record.begin());
  std::copy(body.bytes.begin(), body.bytes.end(), record.begin() + kRecordHeaderBytes);
  return record;
}

constexpr RecordType kEvents[] = {RecordType::leased,   RecordType::acked,     RecordType::retried,
                                  RecordType::released, RecordType::buried,    RecordType::kicked,
                                  RecordType::extended, RecordType::cancelled, RecordType::died};

}  // namespace

TEST_CASE("a header comes back, and only under its own key") {
  Body body;
  encode_limits(body, {100, 200});
  const RecordHeader header{0, 5, 4096, 777, 1024, {}, 0, 0};
  const auto record = sealed(body, header);
  const auto back = decode_header(kKey, record);
  REQUIRE(back);
  CHECK(back->bytes == record.size());
  CHECK(back->seq == 5);
  CHECK(back->position == 4096);
  CHECK(back->at_wall_ms == 777);
  CHECK(back->durable_position == 1024);
  CHECK(back->type == RecordType::limits);
  CHECK(body_is_whole(record, body.bytes, back->type));
  CHECK(!decode_header({kKey.number + 1, kKey.salt}, record));
  CHECK(!decode_header({kKey.number, kKey.salt ^ 1}, record));
  CHECK(!decode_header(kKey, Bytes(record).first(kRecordHeaderBytes + 7)));
}

TEST_CASE("a durable point too far back says nothing") {
  Body body;
  encode_limits(body, {1, 2});
  RecordHeader header;
  header.position = uint64_t{1} << 40;
  header.durable_position = 8;
  CHECK(decode_header(kKey, sealed(body, header))->durable_position == 0);
  header.durable_position = header.position - (UINT32_MAX - 1);
  CHECK(decode_header(kKey, sealed(body, header))->durable_position == header.durable_position);
}

TEST_CASE("no bit of a header or a first id can flip unseen") {
  Body body;
  const MessageItem item = full_item();
  REQUIRE(encode_pushed(body, std::span(&item, 1), true));
  auto record = sealed(body, {}, MessageId{77});
  for (size_t bit = 0; bit < 8 * (kRecordHeaderBytes + 8); ++bit) {
    record[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    CHECK(!decode_header(kKey, record));
    record[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  CHECK(decode_header(kKey, record)->flags == kFlagLazy);
}

TEST_CASE("a record is sealed anew for another file") {
  Body body;
  const MessageItem item = full_item();
  REQUIRE(encode_pushed(body, std::span(&item, 1), false));
  auto record = sealed(body, {}, MessageId{77});
  const FileKey other{8, 42};
  reseal_record(other, record);
  CHECK(decode_header(other, record));
  CHECK(!decode_header(kKey, record));
}

TEST_CASE("a batch comes back item by item, and each item alone") {
  Body body;
  MessageItem items[3] = {full_item(), full_item(), {}};
  items[1].payload = {};
  items[1].payload_bytes = 1'000'000;
  items[1].blob_crc = 5;
  items[1].blob.emplace();
  items[1].blob->random[15] = 9;
  REQUIRE(encode_pushed(body, items, false));
  (void)sealed(body, {}, MessageId{1234});
  CHECK(body.count == 3);
  PushedReader reader(body.bytes, body.count);
  CHECK(reader.first_id() == MessageId{1234});
  for (const MessageItem& item : items) {
    const auto back = reader.next();
    REQUIRE(back);
    check_same(*back, item);
    const auto alone = decode_item(Bytes(body.bytes).subspan(reader.item_offset(), reader.item_bytes()));
    REQUIRE(alone);
    check_same(*alone, item);
  }
  CHECK(!reader.next());
  CHECK(!reader.broken());
}

TEST_CASE("every event comes back with the detail of its type") {
  const EventItem items[2] = {{MessageId{1}, 64}, {MessageId{2}, 128}};
  EventRecord event;
  for (const RecordType type : kEvents) {
    Body body;
    encode_event(body, type, items, full_detail());
    CHECK(padded(kRecordHeaderBytes + body.bytes.size()) == event_record_bytes(type, 2, full_detail()));
    REQUIRE(decode_event(type, body.count, body.bytes, event));
    REQUIRE(event.items.size() == 2);
    CHECK(event.items[1].id == MessageId{2});
    CHECK(event.items[1].previous_event == 128);
    const bool leased = type == RecordType::leased;
    const bool failed =
        type == RecordType::retried || type == RecordType::released || type == RecordType::buried;
    CHECK(event.detail.until_wall_ms == (leased || type == RecordType::extended ? 22 : 0));
    CHECK(event.detail.first_serial == Serial{leased ? 33u : 0u});
    CHECK(event.detail.pid == (leased ? 44u : 0u));
    CHECK(event.detail.pid_started == (leased ? 55u : 0u));
    CHECK(event.detail.attempts_max == (leased ? 6 : 0));
    CHECK(event.detail.due_wall_ms == (failed ? 11 : 0));
    CHECK(event.detail.exit.value_or(0) == (failed ? 1 : 0));
    CHECK(event.detail.signal.value_or(0) == (failed ? 9 : 0));
    CHECK(event.detail.reason == (failed ? "no such cat" : ""));
    CHECK(event.detail.stderr_tail == (failed ? "meow\n" : ""));
    CHECK(!decode_event(type, 3, body.bytes, event));
    CHECK(!decode_event(type, 0, body.bytes, event));
  }
}

TEST_CASE("an ack of one message fits the closing room") {
  CHECK(event_record_bytes(RecordType::acked, 1, full_detail()) == kClosingBytes);
  CHECK(event_record_bytes(RecordType::buried, 1) == kBurialBytes);
}

TEST_CASE("reasons and stderr are cut where a character ends") {
  std::string reason(1023, 'x');
  reason += "\xc3\xa9 and more";
  std::string tail = "begin \xc3\xa9" + std::string(4095, 'y');
  EventDetail detail;
  detail.reason = reason;
  detail.stderr_tail = tail;
  const EventItem item{MessageId{1}, 0};
  Body body;
  encode_event(body, RecordType::buried, std::span(&item, 1), detail);
  EventRecord event;
  REQUIRE(decode_event(RecordType::buried, 1, body.bytes, event));
  CHECK(event.detail.reason == std::string(1023, 'x'));
  CHECK(event.detail.stderr_tail == std::string(4095, 'y'));
}

TEST_CASE("a body that is used again does not allocate") {
  const EventItem items[4] = {};
  Body body;
  encode_event(body, RecordType::retried, items, full_detail());
  const std::byte* before = body.bytes.data();
  encode_event(body, RecordType::acked, std::span(items, 1), {});
  encode_event(body, RecordType::retried, items, full_detail());
  CHECK(body.bytes.data() == before);
}

TEST_CASE("a moved message comes back with its past") {
  const MovedRecord moved = full_moved();
  Body body;
  encode_moved(body, moved);
  const auto back = decode_moved(body.bytes);
  REQUIRE(back);
  CHECK(back->id == moved.id);
  CHECK(back->pushed_wall_ms == 1);
  CHECK(back->state == SlotState::leased);
  CHECK(back->state_wall_ms == 2);
  CHECK(back->deliveries == 3);
  CHECK(back->attempts == 4);
  CHECK(back->attempts_max == 5);
  CHECK(back->crashes == 6);
  CHECK(back->serial == Serial{7});
  CHECK(back->pid == 8);
  CHECK(back->pid_started == 9);
  CHECK(back->error_wall_ms == 10);
  CHECK(back->error.exit == int16_t{2});
  CHECK(!back->error.signal);
  CHECK(back->error.reason == "broke");
  REQUIRE(back->past.size() == 2);
  CHECK(back->past[1].type == RecordType::leased);
  CHECK(back->past[1].at_wall_ms == 2);
  CHECK(back->past[1].serial == 3);
  CHECK(back->past[1].pid == 4);
  check_same(back->message, moved.message);
  check_same(*decode_item(Bytes(body.bytes).subspan(moved_item_offset(body.bytes, *back))), moved.message);
}

TEST_CASE("a moved message keeps the newest of its past") {
  MovedRecord moved = full_moved();
  moved.past.clear();
  for (int64_t at = 0; at < 40; ++at) moved.past.push_back({RecordType::retried, at, 0, 0});
  Body body;
  encode_moved(body, moved);
  const auto back = decode_moved(body.bytes);
  REQUIRE(back);
  REQUIRE(back->past.size() == kPastEventsMax);
  CHECK(back->past.back().at_wall_ms == 39);
}

TEST_CASE("low, limits, clock, opened, file header and tags come back") {
  Body body;
  LowRecord low{3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 10, 11};
  encode_low(body, low);
  const auto low_back = decode_low(body.bytes);
  REQUIRE(low_back);
  CHECK(low_back->file_number == 3);
  CHECK(low_back->counts == low.counts);
  CHECK(low_back->id_limit == 10);
  CHECK(low_back->serial_limit == 11);
  CHECK(!decode_limits(body.bytes));

  encode_limits(body, {12, 13});
  CHECK(decode_limits(body.bytes)->id_limit == 12);
  CHECK(decode_limits(body.bytes)->serial_limit == 13);
  ClockRecord clock;
  clock.boot_id[3] = 7;
  clock.wall_minus_boot_ms = -14;
  encode_clock(body, clock);
  CHECK(decode_clock(body.bytes)->boot_id[3] == 7);
  CHECK(decode_clock(body.bytes)->wall_minus_boot_ms == -14);

  const PolicyRecord policy{
      "acme/reports",
      {{{PolicyKey::rate, 99, 1000, {}}, {PolicyKey::pool, 0, 0, "stripe"}}, {PolicyKey::weight}}};
  encode_policy(body, policy);
  CHECK(decode_policy(body.bytes)->path == "acme/reports");
  CHECK(decode_policy(body.bytes)->patch.set == policy.patch.set);
  CHECK(decode_policy(body.bytes)->patch.unset == policy.patch.unset);
  CHECK(!decode_policy(Bytes(body.bytes).first(body.bytes.size() - 1)));
  body.bytes.push_back(std::byte{'x'});
  CHECK(!decode_policy(body.bytes));

  const auto opened = encode_opened(kKey, {6, 4096, 17}, 1);
  CHECK(opened.size() == kOpenedBytes);
  CHECK(decode_opened(kKey, opened)->previous_number == 6);
  CHECK(decode_opened(kKey, opened)->start_position == 4096);
  CHECK(decode_opened(kKey, opened)->first_seq == 17);
  CHECK(!decode_opened({kKey.number, 1}, opened));

  const TagView tags[] = {{"color", "blue"}, {"empty", ""}};
  const std::string encoded = encode_tags(tags);
  const auto tags_back = decode_tags(encoded);
  REQUIRE(tags_back);
  REQUIRE(tags_back->size() == 2);
  CHECK((*tags_back)[0].value == "blue");
  CHECK((*tags_back)[1].name == "empty");
  CHECK(decode_tags("")->empty());
  CHECK(!decode_tags(std::string_view(encoded).substr(0, encoded.size() - 1)));
}

TEST_CASE("a file header survives the loss of one copy, and tells other formats from damage") {
  auto bytes = encode_file_header({kKey, 5});
  FileHeader header;
  REQUIRE(bytes.size() == kFileHeaderBytes);
  CHECK(decode_file_header(bytes, header) == FileHeaderFault::none);
  CHECK(header.key.salt == kKey.salt);
  CHECK(header.made_wall_ms == 5);
  bytes[20] ^= std::byte{1};
  CHECK(decode_file_header(bytes, header) == FileHeaderFault::none);
  bytes[2048 + 20] ^= std::byte{1};
  CHECK(decode_file_header(bytes, header) == FileHeaderFault::damaged);
  CHECK(decode_file_header(Bytes(bytes).first(3), header) == FileHeaderFault::not_ours);
  for (const uint32_t format : {kOldestFormat - 1, kOldestFormat, kJournalFormat, kJournalFormat + 1}) {
    const bool read = format >= kOldestFormat && format <= kJournalFormat;
    put_number(bytes.data() + 8, format);
    put_number(bytes.data() + 32, crc32c(0, Bytes(bytes).first(32)));
    CHECK(decode_file_header(bytes, header) == (read ? FileHeaderFault::none : FileHeaderFault::other_format));
    CHECK(header.format == format);
  }
}

TEST_CASE("decoders live through random and broken bytes") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const bool is_long = test::is_long_form();
  Body bodies[4];
  const MessageItem items[2] = {full_item(), full_item()};
  const EventItem events[2] = {{MessageId{1}, 2}, {MessageId{3}, 4}};
  REQUIRE(encode_pushed(bodies[0], items, false));
  encode_moved(bodies[1], full_moved());
  encode_event(bodies[2], RecordType::buried, events, full_detail());
  encode_low(bodies[3], {});
  EventRecord event;
  for (int round = 0; round < (is_long ? 1'000'000 : 10'000); ++round) {
    std::vector<std::byte> bytes = bodies[random() % 4].bytes;
    if (round % 4 == 0) {
      bytes.resize(random() % 300);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
    } else {
      for (unsigned n = random() % 4; n > 0; --n)
        bytes[random() % bytes.size()] = static_cast<std::byte>(random() & 0xff);
      bytes.resize(bytes.size() - random() % 3);
    }
    const auto count = static_cast<uint16_t>(random() % 4 == 0 ? random() : 2);
    PushedReader reader(bytes, count);
    size_t read = 0;
    while (reader.next()) ++read;
    if (read > count) FAIL("more items than there are");
    for (const RecordType type : kEvents) (void)decode_event(type, count, bytes, event);
    (void)decode_moved(bytes);
    (void)decode_low(bytes);
    (void)decode_limits(bytes);
    (void)decode_clock(bytes);
    (void)decode_policy(bytes);
    (void)decode_item(bytes);
    (void)decode_tags(as_text(bytes));
    if (decode_header(kKey, bytes)) FAIL("a record out of nothing");
  }
}
