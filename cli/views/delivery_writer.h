// delivery_writer - the output of `fq pop` for each message, in each of its forms.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/session/session.h"

namespace fq::cli {

enum class DeliveryForm { human, raw, null, json, sh };

class DeliveryWriter {
 public:
  /// `keep`: the messages stay leased, so their receipts matter.
  DeliveryWriter(Session& session, Queue& queue, DeliveryForm form, bool keep)
      : session_(session), queue_(queue), form_(form), keep_(keep) {}

  /// Into the session's output, not flushed.
  Result<void> write(const Delivery& delivery);

 private:
  Result<void> write_human(const Delivery& delivery);
  /// As it is, escaped on a terminal.
  Result<void> write_text(std::string text);
  Result<void> write_leased_line(const Delivery& delivery);
  Result<void> write_json(const Delivery& delivery);
  Result<void> write_shell(const Delivery& delivery);
  Result<void> write_bytes(const Delivery& delivery);

  Session& session_;
  Queue& queue_;
  DeliveryForm form_;
  bool keep_;
};

}  // namespace fq::cli
