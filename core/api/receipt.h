// receipt - `ID.SERIAL.MARK`: a message, one delivery of it, and its queue.
//
// An older fq wrote no mark. Such a receipt may be any queue's, so it is taken apart, and refused.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace fq {

struct ReceiptParts {
  uint64_t id = 0;
  uint64_t serial = 0;
  std::string_view mark;  // 4 to 64 letters and digits; "": of an older fq
};

/// Into `text`, whose memory is used again.
void write_receipt(std::string& text, uint64_t id, uint64_t serial, std::string_view mark);
std::string receipt_text(uint64_t id, uint64_t serial, std::string_view mark);

/// None: it is no receipt.
std::optional<ReceiptParts> parse_receipt(std::string_view text);

/// Text where it came as text, and parts as long as no text is asked for: most are given and taken in one
/// process.
class Receipt {
 public:
  Receipt() = default;
  Receipt(std::string text) : text_(std::move(text)) {}
  Receipt(uint64_t id, uint64_t serial, std::string_view mark)
      : id_(id), serial_(serial), text_(mark), is_text_(false) {}

  std::string text() const { return is_text_ ? text_ : receipt_text(id_, serial_, text_); }
  /// None: it is no receipt. Good as long as this is.
  std::optional<ReceiptParts> parts() const {
    return is_text_ ? parse_receipt(text_) : ReceiptParts{id_, serial_, text_};
  }
  bool operator==(const Receipt& other) const { return text() == other.text(); }

 private:
  uint64_t id_ = 0, serial_ = 0;
  std::string text_;  // or the mark
  bool is_text_ = true;
};

}  // namespace fq
