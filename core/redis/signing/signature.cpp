#include "core/redis/signing/signature.h"

// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

namespace {

constexpr uint8_t kSignatureVersion = 1;
constexpr std::string_view kWhat = "fq: a command in a message, 1";

void put_part(Packer& text, std::string_view part) {
  text.number(static_cast<uint32_t>(part.size())).raw(part);
}
void put_parts(Packer& text, const std::vector<std::string>& parts) {
  text.number(static_cast<uint32_t>(parts.size()));
  for (const std::string& part : parts) put_part(text, part);
}

}  // namespace

std::string signature_bytes(const Signature& signature) {
  Packer packer;
  packer.number(kSignatureVersion).number(static_cast<uint8_t>(signature.of)).raw(signature.key_name);
  packer.number(signature.at_wall_ms).raw(signature.salt).raw(signature.mac);
  return packer.bytes();
}

std::optional<Signature> read_signature(std::string_view bytes) {
  Unpacker packed(bytes);
  Signature signature;
  const auto version = packed.number<uint8_t>(), of = packed.number<uint8_t>();
  signature.key_name = packed.raw(kKeyNameBytes);
  signature.at_wall_ms = packed.number<int64_t>();
  signature.salt = packed.raw(kSignatureSaltBytes);
  signature.mac = packed.raw(kMacBytes);
  const bool is_known =
      of == static_cast<uint8_t>(Signature::Of::push) || of == static_cast<uint8_t>(Signature::Of::schedule);
  if (!packed.ok() || !packed.rest().empty() || version != kSignatureVersion || !is_known)
    return std::nullopt;
  signature.of = static_cast<Signature::Of>(of);
  return signature;
}

std::string signed_text(std::string_view queue, const NewMessage& message, const Signature& signature) {
  const bool is_of_schedule = signature.of == Signature::Of::schedule;
  Packer text;
  put_part(text, kWhat);
  text.number(static_cast<uint8_t>(signature.of)).number(signature.at_wall_ms);
  put_part(text, signature.salt);
  put_part(text, queue);
  put_part(text, message.tenant);
  put_part(text, is_of_schedule ? message.schedule : std::string_view());
  put_parts(text, message.command->argv);
  put_part(text, message.command->cwd);
  put_parts(text, message.command->env);
  put_part(text, hash_of(as_text(message.payload)));
  return text.bytes();
}

}  // namespace fq
