// golden_test - the bytes of every record, as they have been since format 1, and what is none of them.
//
// A change of these bytes is a change of the format: see codec.h.
#include "core/journal/codec.h"

// System.
#include <cstdio>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/journal/read_record.h"
#include "tests/catch.h"
#include "tests/journal/golden_records.h"

namespace fq::test {

namespace {

MessageItem inline_item() {
  static const TagView tags[] = {{"color", "blue"}, {"empty", ""}};
  static const std::string tag_bytes = encode_tags(tags);
  static const std::string job =
      encode_job({.timeout_ms = 1000, .argv = {"convert", "cat.png"}, .cwd = "/srv", .env = {"HOME=/root"}});
  static const std::vector<std::byte> after(16, std::byte{3});
  static const std::string terms =
      encode_terms({.ttl_ms = 5000, .key = "cat", .debounced = true, .key_for_ms = 60'000, .after = after});
  MessageItem item;
  item.tenant = "acme/reports";
  item.key = "k1";
  item.tags = tag_bytes;
  item.job = job;
  item.terms = terms;
  item.payload = as_bytes("resize cat.png");
  item.payload_bytes = item.payload.size();
  item.priority = -5;
  item.attempts_max = 3;
  item.due_wall_ms = 0x0102030405;
  item.pushed_wall_ms = 0x1112131415;
  return item;
}

MessageItem blob_item() {
  MessageItem item;
  item.tenant = "t";
  item.blob.emplace();
  for (uint8_t i = 0; i < sizeof item.blob->random; ++i)
    item.blob->random[i] = static_cast<uint8_t>(0xa0 + i);
  item.payload_bytes = 0x123456789;
  item.blob_crc = 0xdeadbeef;
  item.job = inline_item().job;
  return item;
}

EventDetail full_detail() {
  EventDetail detail;
  detail.due_wall_ms = 0x2122232425;
  detail.until_wall_ms = 0x3132333435;
  detail.first_serial = Serial{0x4142434445};
  detail.pid = 0x51525354;
  detail.pid_started = 0x6162636465;
  detail.attempts_max = 0x7172;
  detail.exit = int16_t{-2};
  detail.signal = int16_t{9};
  detail.reason = "no such cat";
  detail.stderr_tail = "meow\n";
  detail.queue = "slow";
  detail.id_there = MessageId{0x8182838485};
  return detail;
}

MovedRecord moved() {
  MovedRecord moved;
  moved.id = MessageId{0x0102030405060708};
  moved.pushed_wall_ms = 0x1112131415;
  moved.state = SlotState::leased;
  moved.state_wall_ms = 0x2122232425;
  moved.deliveries = 0x31323334;
  moved.attempts = 0x4142;
  moved.attempts_max = 0x4344;
  moved.crashes = 0x4546;
  moved.serial = Serial{0x5152535455};
  moved.pid = 0x61626364;
  moved.pid_started = 0x7172737475;
  moved.error_wall_ms = 0x2223242526;
  moved.error = full_detail();
  moved.past = {{RecordType::pushed, 1, 0, 0}, {RecordType::leased, 2, 3, 4}, {RecordType::reheld, 5, 6, 7}};
  moved.message = inline_item();
  return moved;
}

ScheduledRecord scheduled() {
  ScheduledRecord schedule;
  schedule.name = "nightly";
  schedule.spec = "0 3 * * *";
  schedule.zone = "Europe/Berlin";
  schedule.missed = MissedRule::skip;
  schedule.overlap = OverlapRule::queue;
  schedule.paused = true;
  schedule.of_file = true;
  schedule.carried = true;
  schedule.begun_wall_ms = 0x0102030405;
  schedule.done_wall_ms = 0x1112131415;
  schedule.next_wall_ms = 0x2122232425;
  schedule.last_wall_ms = 0x3132333435;
  schedule.last = Occurrence::overlap;
  schedule.last_id = MessageId{0x4142434445};
  schedule.known_id = MessageId{0x5152535455};
  schedule.message = inline_item();
  return schedule;
}

SteppedRecord stepped() {
  static const std::vector<std::byte> after(16, std::byte{5});
  SteppedRecord step;
  step.id = MessageId{0x0102030405060708};
  step.name = "charge";
  step.kind = StepKind::wait;
  step.carried = true;
  step.gives_back = true;
  step.open = true;
  step.failed = true;
  step.at_wall_ms = 0x1112131415;
  step.until_wall_ms = 0x2122232425;
  step.child = MessageId{0x3132333435};
  step.after = after;
  step.output = inline_item();
  return step;
}

/// A record of each type with something in each field. No default: a new type needs one too.
Body sample(RecordType type) {
  const EventItem events[2] = {{MessageId{0x0102030405060708}, 64}, {MessageId{2}, 0x1112131415161718}};
  const MessageItem items[2] = {inline_item(), blob_item()};
  Body body;
  switch (type) {
    case RecordType::pushed:
      REQUIRE(encode_pushed(body, items, true));
      break;
    case RecordType::leased:
    case RecordType::acked:
    case RecordType::retried:
    case RecordType::released:
    case RecordType::buried:
    case RecordType::kicked:
    case RecordType::extended:
    case RecordType::cancelled:
    case RecordType::died:
    case RecordType::freed:
    case RecordType::reheld:
    case RecordType::unstepped:
    case RecordType::left:
      encode_event(body, type, events, full_detail());
      break;
    case RecordType::moved:
    case RecordType::arrived:
      encode_moved(body, moved(), type);
      break;
    case RecordType::low:
      encode_low(body, {0x01020304, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 0x1112131415, 0x2122232425});
      break;
    case RecordType::limits:
      encode_limits(body, {0x0102030405060708, 0x1112131415161718});
      break;
    case RecordType::clock:
      encode_clock(body, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, -14});
      break;
    case RecordType::opened: {  // outside the stream: no header of a record
      ClockRecord clock{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, -14};
      body.bytes = encode_opened({7, 0x0123456789abcdef}, {6, 0x1112131415, 17, clock}, 0x2122232425);
      break;
    }
    case RecordType::policy:
      encode_policy(body, {"acme/reports",
                           {{{PolicyKey::rate, 99, 1000, {}}, {PolicyKey::pool, 0, 0, "stripe"}},
                            {PolicyKey::weight, PolicyKey::order}}});
      break;
    case RecordType::replaced:
      encode_replaced(body, {{MessageId{0x0102030405060708}, 0x1112131415}, 0x2122232425, inline_item()});
      break;
    case RecordType::scheduled:
      encode_scheduled(body, scheduled());
      break;
    case RecordType::skipped:
    case RecordType::unscheduled:
      encode_skipped(body, type, {"nightly", 0x1112131415, 0x2122232425, Occurrence::missed});
      break;
    case RecordType::stepped:
      encode_stepped(body, stepped());
      break;
    case RecordType::edited:
    case RecordType::leaving:
      encode_edited(body, {0x3132333435, moved()}, type);
      break;
    case RecordType::keys:
      encode_keys(body, {{{{0x0102030405060708, 2}, MessageId{3}, 0x1112131415}, {{4, 5}, MessageId{6}, 7}}});
      break;
  }
  return body;
}

std::string hex(Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", std::to_integer<unsigned>(byte));
    text += two;
  }
  return text;
}

std::string sealed(RecordType type) {
  Body body = sample(type);
  if (type == RecordType::opened) return hex(body.bytes);
  const RecordHeader header{
      0, 0x0102030405060708, 0x1112131415161718, 0x2122232425262728, 0x1112131415161000, type, 0, 0};
  const HeaderBytes bytes = encode_header(0x01234567, header, body, MessageId{0x3132333435363738});
  return hex(bytes) + hex(body.bytes);
}

/// What is read of a body, written again; none where it is refused.
std::optional<Body> read_again(RecordType type, uint16_t count, Bytes bytes) {
  Body again;
  if (type == RecordType::opened) {
    const auto opened = decode_opened({7, 0x0123456789abcdef}, bytes);
    if (!opened) return std::nullopt;
    again.bytes = encode_opened({7, 0x0123456789abcdef}, *opened, 0x2122232425);
    return again;
  }
  const auto written = [&](auto encode) {
    return [&again, encode](const auto& record) { return encode(again, record), std::optional(again); };
  };
  const Visitor visit{[&](PushedReader& reader) -> std::optional<Body> {
                        std::vector<MessageItem> items;
                        while (const MessageItem* item = reader.next()) items.push_back(*item);
                        if (reader.broken()) return std::nullopt;
                        REQUIRE(encode_pushed(again, items, false));
                        put_number(again.bytes.data(), number(reader.first_id()));
                        return again;
                      },
                      [&](const EventRecord& event) {
                        encode_event(again, type, event.items, event.detail);
                        return std::optional(again);
                      },
                      [&](const MovedRecord& record) {
                        encode_moved(again, record, type);
                        return std::optional(again);
                      },
                      [&](const LowRecord& record) { return written(encode_low)(record); },
                      [&](const LimitsRecord& record) { return written(encode_limits)(record); },
                      [&](const ClockRecord& record) { return written(encode_clock)(record); },
                      [&](const PolicyRecord& record) { return written(encode_policy)(record); },
                      [&](const ScheduledRecord& record) { return written(encode_scheduled)(record); },
                      [&](const SkippedRecord& record) {
                        encode_skipped(again, type, record);
                        return std::optional(again);
                      },
                      [&](const SteppedRecord& record) { return written(encode_stepped)(record); },
                      [&](const ReplacedRecord& record) { return written(encode_replaced)(record); },
                      [&](const EditedRecord& record) {
                        encode_edited(again, record, type);
                        return std::optional(again);
                      },
                      [&](const KeysRecord& record) { return written(encode_keys)(record); }};
  RecordHeader header;
  header.type = type;
  header.count = count;
  RecordDecoder decoder;
  return decoder.read(header, bytes, std::optional<Body>(), visit);
}

/// A sum of what becomes of a body with one byte changed, some cut off or one added: which of these are
/// refused, and what the others say.
uint32_t broken_sum(RecordType type) {
  const Body body = sample(type);
  uint32_t sum = 0;
  const auto add = [&](uint16_t count, Bytes bytes) {
    const auto again = read_again(type, count, bytes);
    const std::byte read[1] = {std::byte{again.has_value()}};
    sum = crc32c(sum, read);
    if (again) sum = crc32c(sum, again->bytes);
  };
  for (size_t at = 0; at < body.bytes.size(); ++at) {
    add(body.count, Bytes(body.bytes).first(at));
    for (const unsigned bits : {0x01u, 0x02u, 0x04u, 0x08u, 0x10u, 0x40u, 0x80u, 0xffu}) {
      std::vector<std::byte> bytes = body.bytes;
      bytes[at] ^= static_cast<std::byte>(bits);
      add(body.count, bytes);
    }
  }
  std::vector<std::byte> longer = body.bytes;
  longer.push_back(std::byte{0});
  add(body.count, longer);
  for (const uint16_t count : {uint16_t{0}, uint16_t{1}, uint16_t{3}, uint16_t{1025}, uint16_t{65535}})
    add(count, body.bytes);
  return sum;
}

}  // namespace

TEST_CASE("the bytes of every record are those of format 1") {
  for (auto type = RecordType::pushed; type <= kLastType; type = RecordType(uint8_t(type) + 1)) {
    INFO("type " << unsigned(type));
    CHECK(sealed(type) == kGoldenRecords[size_t(type)].bytes);
  }
}

TEST_CASE("what is read of a record is written again byte for byte") {
  for (auto type = RecordType::pushed; type <= kLastType; type = RecordType(uint8_t(type) + 1)) {
    INFO("type " << unsigned(type));
    const Body body = sample(type);
    const auto again = read_again(type, body.count, body.bytes);
    REQUIRE(again);
    CHECK(hex(again->bytes) == hex(body.bytes));
  }
}

TEST_CASE("of broken bodies the same are refused as ever, and the others say the same") {
  for (auto type = RecordType::pushed; type <= kLastType; type = RecordType(uint8_t(type) + 1)) {
    INFO("type " << unsigned(type));
    CHECK(broken_sum(type) == kGoldenRecords[size_t(type)].broken);
  }
}

}  // namespace fq::test
