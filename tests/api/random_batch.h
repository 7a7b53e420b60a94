// random_batch - the messages of one push, drawn at random.
#pragma once

// System.
#include <span>
#include <string>
#include <vector>
// Tests.
#include "tests/api/history_view.h"
#include "tests/api/random_patch.h"
#include "tests/api/random_steps.h"

namespace fq::test {

/// Owns what its messages point to.
class RandomBatch {
 public:
  struct Rules {
    Order order;
    bool costly;   // turns may cost bytes or time
    bool gathers;  // messages of a tenant go in groups
  };
  /// Some come after those of `ids`; `pushed` counts them all.
  RandomBatch(const RandomPatch::Draw& draw, const Rules& rules, const std::vector<IdPair>& ids,
              size_t& pushed)
      : draw_(draw), rules_(rules), messages_(1 + draw.below(4)), texts_(messages_.size()) {
    for (Texts& texts : texts_) texts.payload = "m" + std::to_string(pushed++);
    for (size_t i = 0; i < messages_.size(); ++i) {
      set_place(messages_[i], texts_[i]);
      set_keys(messages_[i], texts_[i]);
      while (!rules.gathers && texts_[i].debounce.empty() && !ids.empty() && draw.below(3) == 0)
        add_wait(messages_[i], texts_[i], ids[draw.below(ids.size())]);
      set_times(messages_[i]);
      log_ += "push " + text_of(messages_[i]);
    }
  }
  RandomBatch(const RandomBatch&) = delete;
  RandomBatch& operator=(const RandomBatch&) = delete;

  std::span<const NewMessage> messages() const { return messages_; }
  NewMessage of_model(size_t i) const {
    NewMessage message = messages_[i];
    message.after = texts_[i].after;
    message.after_any = texts_[i].after_any;
    return message;
  }
  const std::string& text() const { return log_; }

 private:
  struct Texts {
    std::string payload, key, unique, debounce;
    std::vector<MessageId> after, after_any;  // by the model's ids
  };

  void set_place(NewMessage& message, Texts& texts) const {
    static const char* const tenants[] = {"c", "a/x", "a/y", "b/z/1", "b/z/2", "default", "a", "b"};
    // Where turns cost otherwise, no account has messages of its own: how far they are ahead when the first
    // one below it comes is not promised.
    message.tenant = tenants[draw_.below(std::size(tenants) - (rules_.costly ? 2 : 0))];
    if (rules_.gathers) message.tenant = messages_[0].tenant;
    if (rules_.order == Order::priority && draw_.below(3) == 0)
      message.priority = static_cast<int32_t>(draw_.below(5)) - 2;
    if (rules_.order == Order::key && draw_.below(4) != 0) texts.key = letter('a', 5);
    message.key = texts.key;
  }
  void set_keys(NewMessage& message, Texts& texts) const {
    if (draw_.below(4) == 0) texts.unique = letter('k', 3);
    if (draw_.below(6) == 0) texts.debounce = letter('k', 2);
    if (!texts.debounce.empty()) texts.unique.clear(), message.quiet_ms = draw_.fresh_span_ms(2'000);
    // They differ in what they cost; whether a replaced one is paid before or after that is not promised.
    if ((texts.unique + texts.debounce).empty()) texts.payload.append(draw_.below(2) * draw_.below(500), '.');
    message.payload = as_bytes(texts.payload);
    message.unique = texts.unique;
    message.unique_for_ms = static_cast<int64_t>(draw_.below(4)) * 500;
    message.debounce = texts.debounce;
    message.unique_mode = static_cast<UniqueMode>(draw_.below(3));
  }
  void add_wait(NewMessage& message, Texts& texts, const IdPair& ids) {
    const bool any = draw_.below(2) == 0;
    (any ? message.after_any : message.after).push_back(ids.first);
    (any ? texts.after_any : texts.after).push_back(ids.second);
    log_ += any ? "  after any " : "  after ";
    log_ += std::to_string(number(ids.second)) + "\n";
  }
  void set_times(NewMessage& message) const {
    const bool is_debounced = !message.debounce.empty();
    if (!is_debounced && draw_.below(4) == 0) message.delay_ms = draw_.fresh_span_ms(2'000);
    if (!is_debounced && draw_.below(5) == 0)
      message.ttl_ms = draw_.fresh_span_ms(3'000) - message.delay_ms.value_or(0);
    if (message.ttl_ms && *message.ttl_ms <= 0) message.ttl_ms.reset();
    if (draw_.below(4) == 0) message.attempts_max = 1 + static_cast<uint32_t>(draw_.below(3));
  }
  std::string letter(char from, uint64_t of) const {
    return std::string(1, static_cast<char>(from + static_cast<char>(draw_.below(of))));
  }

  const RandomPatch::Draw& draw_;
  Rules rules_;
  std::vector<NewMessage> messages_;
  std::vector<Texts> texts_;
  std::string log_;
};

}  // namespace fq::test
