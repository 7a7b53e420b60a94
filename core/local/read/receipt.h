// receipt - `ID.SERIAL.MARK`: a message, one delivery of it, and its queue.
//
// An older fq wrote no mark. Such a receipt may be any queue's, so it is taken apart, and refused.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
// fq, this room.
#include "core/local/files/queue_mark.h"

namespace fq {

struct ReceiptParts {
  uint64_t id = 0;
  uint64_t serial = 0;
  std::string_view mark;  // "": of an older fq
};

/// Into `text`, whose memory is used again.
void write_receipt(std::string& text, uint64_t id, uint64_t serial, const QueueMark& mark);
std::string receipt_text(uint64_t id, uint64_t serial, const QueueMark& mark);

/// None: it is no receipt. Of other engines' the mark is longer.
std::optional<ReceiptParts> parse_receipt(std::string_view text);

}  // namespace fq
