#include "cli/requests/typed_payload.h"

// fq, this room.
#include "cli/terminal/input.h"
#include "cli/words/values.h"

namespace fq::cli {

Result<TypedPayload> typed_payload_of(const Arguments& arguments, const std::string* operand) {
  TypedPayload payload;
  int sources = operand != nullptr ? 1 : 0;
  if (const auto typed = arguments.value("payload")) payload.text = std::string(*typed), ++sources;
  if (const auto path = arguments.value("file")) payload.file = std::string(*path), ++sources;
  if (sources > 1) return usage_error("PAYLOAD", "comes from one place: an argument, --payload or --file");
  if (operand != nullptr && *operand == "-") payload.file = "-";
  if (operand != nullptr && *operand != "-") payload.text = *operand;
  return payload;
}

Result<std::string> TypedPayload::read(uint64_t most) const {
  if (!file) return text.value_or("");
  FQ_TRY_SET(Reader reader, *file == "-" ? Reader::standard_input() : Reader::file(*file));
  return reader.read_all(most);
}

}  // namespace fq::cli
