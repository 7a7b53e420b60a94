#include "core/local/push/receiver.h"

// System.
#include <array>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

// No tenant is called so: what is remembered of imports meets no key of a message.
constexpr std::string_view kNobody = "";

/// It waits behind the message that has its key.
bool is_behind(const MessageTerms& terms) {
  for (size_t at = 0; at + 8 <= terms.after.size(); at += 8) {
    if ((get_number<uint64_t>(terms.after.data() + at) & kAfterKey) != 0) return true;
  }
  return false;
}

}  // namespace

std::string Receiver::objection_to(const MessageItem& item) {
  const auto& settings = header().settings;
  const Order order = settings.order.peek();
  if (item.priority != 0 && order != Order::priority)
    return "has a priority, which the order of " + object() + " ignores";
  if (!item.key.empty() && order != Order::key)
    return "has a sort key, which the order of " + object() + " ignores";
  if (item.payload_bytes > settings.payload_bytes_max.peek())
    return "its payload is longer than " + object() + " takes (max_payload)";
  return "";
}

Result<bool> Receiver::key_is_in_use(const MessageItem& item) {
  if (item.terms.empty()) return false;
  FQ_TRY(secret_.ensure());
  bool held = false;
  FQ_TRY(locked([&]() -> Result<void> {
    gate().fire_timers(gate().now());
    held = key_is_held(item);
    return {};
  }));
  return held;
}

std::string Receiver::key_in_use(const MessageItem& item) {
  const std::optional<MessageTerms> terms = decode_terms(item.terms);
  return std::string(terms && terms->debounced ? "its debounce key" : "its unique key") + " is in use in " +
         object();
}

/// Needs: the lock.
bool Receiver::key_is_held(const MessageItem& item) {
  if (item.terms.empty()) return false;
  const std::optional<MessageTerms> terms = decode_terms(item.terms);
  if (!terms || terms->key.empty() || is_behind(*terms)) return false;
  const std::optional<KeyHash> key = gate().apply().key_of(item);
  return schedule().keys().find(*key) != kNoIndex || header().may_be_pending(*key);
}

Result<ImportToken> Receiver::token_of(std::string_view origin, MessageId id, int64_t until_wall_ms) {
  FQ_TRY(secret_.ensure());
  const uint64_t secret[2] = {header().key_secret[0].peek(), header().key_secret[1].peek()};
  std::string text(origin);
  text.append(":").append(std::to_string(number(id)));
  const KeyHash hash = hash_key(secret, kNobody, text, false);
  return ImportToken{{hash.half[0], hash.half[1]}, until_wall_ms};
}

Result<std::string> Receiver::origin() {
  FQ_TRY(secret_.ensure());
  const uint64_t secret[2] = {header().key_secret[0].peek(), header().key_secret[1].peek()};
  // A copy has the secret of what it is a copy of, and another mark.
  uint64_t hash = hash_key(secret, kNobody, text_of(mark()), true).half[0];
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(text_of(mark()));
  for (int i = 0; i < 16; ++i, hash >>= 4) text.push_back(kDigits[hash & 15]);
  return text;
}

/// Needs: the lock.
std::optional<MessageId> Receiver::imported_under(const std::optional<ImportToken>& token) {
  if (!token) return std::nullopt;
  const uint32_t key = schedule().keys().find({{token->hash[0], token->hash[1]}});
  if (key == kNoIndex) return std::nullopt;
  return MessageId{schedule().region().key(key).id.get()};
}

Result<std::optional<MessageId>> Receiver::find_imported(const ImportToken& token) {
  std::optional<MessageId> id;
  FQ_TRY(locked([&]() -> Result<void> {
    gate().fire_timers(gate().now());
    id = imported_under(token);
    return {};
  }));
  return id;
}

/// One that no other message gets, whether it is used or not.
Result<MessageId> Receiver::next_id() {
  MessageId id{};
  FQ_TRY(writer_.write([&]() -> Result<Obstacle> {
    SegmentHeader& shared = header();
    if (number(id) != 0) return Obstacle::none;
    if (shared.next_id >= shared.id_limit) return Obstacle::limits;
    Txn txn = store().begin();
    id = MessageId{shared.next_id.get()};
    txn.set(shared.next_id, number(id) + 1);
    txn.commit();
    return Obstacle::none;
  }));
  return id;
}

Result<Receiver::Received> Receiver::receive(MovedRecord& record, bool dead) {
  const MessageItem& item = record.message;
  if (!item.terms.empty()) FQ_TRY(secret_.ensure());
  FQ_TRY_SET(record.id, next_id());
  encode_moved(body_, record, RecordType::arrived);
  const uint64_t bytes = record_bytes(body_);
  const Need need = need_of(item);
  const std::vector<Arrival> arrivals = arrivals_of({&item, 1});
  const std::optional<ImportToken> token =
      item.terms.empty() ? std::nullopt : decode_terms(item.terms)->imported;
  Received received;
  FQ_TRY(writer_.write(
      [&]() -> Result<Obstacle> {
        if (number(received.id) != 0) return Obstacle::none;
        gate().fire_timers(gate().now());
        if (const std::optional<MessageId> known = imported_under(token)) {
          received = {*known, true, {}};
          return Obstacle::none;
        }
        if (!dead && key_is_held(item)) {
          received.why = key_in_use(item);
          return Obstacle::none;
        }
        const std::span<const Arrival> counted(arrivals.data(), dead ? 0 : arrivals.size());
        if (std::optional<Error> refused = admission_.refuse(counted)) return std::move(*refused);
        const Obstacle obstacle = writer_.room_for_push(bytes, need, 1, true);
        if (obstacle != Obstacle::none) return obstacle;
        Change change(link_);
        const uint64_t position = change.append(Purpose::accept, body_);
        const uint64_t item_position = position + kRecordHeaderBytes + moved_item_offset(body_.bytes, record);
        gate().apply().moved(change.txn(), record, position, item_position, kHeldByTime,
                             change.now().wall_ms);
        FQ_POINT("move.arrived");
        change.commit();
        if (record.state != SlotState::held) gate().mark_servable();
        upkeep_.look(header());
        received.id = record.id;
        return Obstacle::none;
      },
      need));
  return received;
}

}  // namespace fq
