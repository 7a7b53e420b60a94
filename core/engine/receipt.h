// receipt - `ID.SERIAL.MARK`: a message, one delivery of it, and its queue.
//
// An older fq wrote no mark. Such a receipt may be any queue's, so it is taken apart, and refused.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace fq
