#include "cli/views/delivery_writer.h"

// System.
#include <unistd.h>
// fq, below us.
#include "core/base/text/base64.h"
#include "core/base/text/escape.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/views/message_view.h"

namespace fq::cli {

namespace {

bool ends_with_newline(const Payload& payload) {
  if (payload.size() == 0) return false;
  if (payload.descriptor() < 0) return payload.bytes().ends_with('\n');
  char last = 0;
  return ::pread(payload.descriptor(), &last, 1, static_cast<off_t>(payload.size() - 1)) == 1 && last == '\n';
}

void export_line(std::string& text, std::string_view name, std::string_view value) {
  text.append("export ").append(name).append("=").append(quote_shell(value)).append("\n");
}

}  // namespace

Result<void> DeliveryWriter::write(const Delivery& delivery) {
  switch (form_) {
    case DeliveryForm::human:
      return keep_ ? write_leased_line(delivery) : write_human(delivery);
    case DeliveryForm::raw:
      return write_bytes(delivery);
    case DeliveryForm::null:
      FQ_TRY(write_bytes(delivery));
      return session_.out().write(std::string_view("\0", 1));
    case DeliveryForm::json:
      return write_json(delivery);
    case DeliveryForm::sh:
      return write_shell(delivery);
  }
  return {};
}

Result<void> DeliveryWriter::write_bytes(const Delivery& delivery) {
  const Payload& payload = delivery.payload;
  if (payload.descriptor() >= 0) return session_.out().copy_file(payload.descriptor(), payload.size());
  return session_.out().write(payload.bytes());
}

Result<void> DeliveryWriter::write_text(std::string text) {
  if (session_.out().is_terminal()) text = escape_terminal(text, {!locale_shows_utf8(), true, true});
  return session_.out().write(text);
}

Result<void> DeliveryWriter::write_human(const Delivery& delivery) {
  if (session_.out().is_terminal()) {
    FQ_TRY_SET(const std::string bytes, delivery.payload.read_all());
    FQ_TRY(write_text(bytes));
  } else {
    FQ_TRY(write_bytes(delivery));
  }
  if (ends_with_newline(delivery.payload)) return {};
  return session_.out().write("\n");
}

Result<void> DeliveryWriter::write_leased_line(const Delivery& delivery) {
  FQ_TRY_SET(const std::string bytes, delivery.payload.read_all());
  std::string line = delivery.receipt.text();
  line.append("\t")
      .append(escape_field(delivery.tenant))
      .append("\t")
      .append(escape_field(bytes))
      .append("\n");
  return write_text(std::move(line));
}

Result<void> DeliveryWriter::write_json(const Delivery& delivery) {
  FQ_TRY_SET(std::optional<MessageInfo> found, queue_.get(delivery.id));
  MessageInfo message = found ? std::move(*found) : MessageInfo{};
  message.id = delivery.id;
  message.tenant = delivery.tenant;
  message.state = State::leased;
  message.attempts_max = delivery.attempts_max;
  FQ_TRY_SET(message.payload, delivery.payload.read_all());
  message.lost.clear();  // here it is
  message.receipt.reset();
  message.lease_until_wall_ms.reset();
  message.holder_pid.reset();
  message.holder_host.clear();
  if (keep_) {
    message.receipt = delivery.receipt;
    message.lease_until_wall_ms = delivery.deadline_wall_ms;
  }
  return session_.out().write(message_line(session_.queue_name(), message));
}

Result<void> DeliveryWriter::write_shell(const Delivery& delivery) {
  FQ_TRY_SET(const std::string bytes, delivery.payload.read_all());
  std::string text;
  export_line(text, "FQ_ID", std::to_string(number(delivery.id)));
  export_line(text, "FQ_QUEUE", session_.queue_name());
  export_line(text, "FQ_TENANT", delivery.tenant);
  if (keep_) {
    export_line(text, "FQ_RECEIPT", delivery.receipt.text());
  } else {
    text += "unset FQ_RECEIPT\n";
  }
  export_line(text, "FQ_ATTEMPT", std::to_string(delivery.attempt));
  export_line(text, "FQ_MAX_ATTEMPTS", std::to_string(delivery.attempts_max));
  export_line(text, "FQ_PRIORITY", std::to_string(delivery.priority));
  export_line(text, "FQ_PUSHED_AT", format_wall_time(delivery.pushed_at_wall_ms));
  if (!delivery.schedule.empty()) {
    export_line(text, "FQ_SCHEDULE", delivery.schedule);
    export_line(text, "FQ_SCHEDULED_AT", format_wall_time(delivery.scheduled_at_wall_ms));
  } else {
    text += "unset FQ_SCHEDULE FQ_SCHEDULED_AT\n";
  }
  // Unset first: a variable that was exported before would stay so.
  text += "unset FQ_PAYLOAD FQ_PAYLOAD_BASE64\n";
  if (bytes.find('\0') == std::string::npos) {
    text.append("FQ_PAYLOAD=").append(quote_shell(bytes)).append("\n");
  } else {
    text.append("FQ_PAYLOAD_BASE64=").append(base64_encode(bytes)).append("\n");
  }
  return write_text(std::move(text));
}

}  // namespace fq::cli
