// receipt - `ID.SERIAL.MARK`: a message, one delivery of it, and its queue.
//
// An older fq wrote no mark. Such a receipt may be any queue's, so it is taken apart, and refused.
#pragma once

// System.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace fq {

inline constexpr uint32_t kNoPlace = UINT32_MAX;

struct ReceiptParts {
  uint64_t id = 0;
  uint64_t serial = 0;
  std::string_view mark;  // 4 to 64 letters and digits; "": of an older fq
  uint32_t place = kNoPlace;
};

/// Into `text`, whose memory is used again.
void write_receipt(std::string& text, uint64_t id, uint64_t serial, std::string_view mark);
std::string receipt_text(uint64_t id, uint64_t serial, std::string_view mark);

/// None: it is no receipt.
std::optional<ReceiptParts> parse_receipt(std::string_view text);

inline constexpr size_t kOwnMarkBytes = 4;  // of the marks that this fq draws

/// Text where it came as text, and parts as long as no text is asked for: most are given and taken in one
/// process.
class Receipt {
 public:
  Receipt() = default;
  Receipt(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  /// `place`: where its message was then, for the engine to look there first. Of no other meaning.
  Receipt(uint64_t id, uint64_t serial, std::array<char, kOwnMarkBytes> mark, uint32_t place = kNoPlace)
      : id_(id), serial_(serial), place_(place), mark_(mark) {}

  std::string text() const {
    if (text_) return *text_;
    return is_none() ? std::string() : receipt_text(id_, serial_, mark());
  }
  /// None: it is no receipt. Good as long as this is.
  std::optional<ReceiptParts> parts() const {
    if (text_) return parse_receipt(*text_);
    if (is_none()) return std::nullopt;
    return ReceiptParts{id_, serial_, mark(), place_};
  }
  bool operator==(const Receipt& other) const { return text() == other.text(); }

 private:
  bool is_none() const { return mark_[0] == '\0'; }
  std::string_view mark() const { return {mark_.data(), mark_.size()}; }

  uint64_t id_ = 0, serial_ = 0;
  uint32_t place_ = kNoPlace;
  std::array<char, kOwnMarkBytes> mark_{};
  std::shared_ptr<const std::string> text_;  // none: it came in parts
};

}  // namespace fq
