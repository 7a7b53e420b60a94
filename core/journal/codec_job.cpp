// codec_job - how a message is to be run, as bytes in its item.
//
//   u16 present (1 timeout, 2 keep), u16 words of argv, u16 variables, u16 zero, i64 timeout, i64 keep, then
//   each text as {u16 bytes, bytes}: the working directory, argv, the variables

// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint16_t kHasTimeout = 1;
constexpr uint16_t kHasKeep = 2;
constexpr size_t kJobBytes = 24;
constexpr size_t kLengthBytes = 2;

size_t text_bytes(const std::vector<std::string_view>& texts) {
  size_t bytes = 0;
  for (const std::string_view text : texts) bytes += kLengthBytes + text.size();
  return bytes;
}

void put_text(codec::ByteWriter& to, std::string_view text) {
  FQ_ASSERT(text.size() <= UINT16_MAX);
  to.put(static_cast<uint16_t>(text.size()));
  to.put_text(text);
}

std::string_view take_text(codec::ByteReader& from) { return from.take_text(from.get<uint16_t>()); }

}  // namespace

std::string encode_job(const JobTerms& terms) {
  const bool empty = !terms.timeout_ms && !terms.keep_ms && terms.argv.empty();
  if (empty) return {};
  std::string bytes(
      kJobBytes + kLengthBytes + terms.cwd.size() + text_bytes(terms.argv) + text_bytes(terms.env), '\0');
  codec::ByteWriter to(std::as_writable_bytes(std::span(bytes)));
  const int present = (terms.timeout_ms ? kHasTimeout : 0) | (terms.keep_ms ? kHasKeep : 0);
  to.put(static_cast<uint16_t>(present));
  to.put(static_cast<uint16_t>(terms.argv.size()));
  to.put(static_cast<uint16_t>(terms.env.size()));
  to.put(uint16_t{0});
  to.put(terms.timeout_ms.value_or(0));
  to.put(terms.keep_ms.value_or(0));
  put_text(to, terms.cwd);
  for (const std::string_view word : terms.argv) put_text(to, word);
  for (const std::string_view variable : terms.env) put_text(to, variable);
  FQ_ASSERT(to.full());
  return bytes;
}

std::optional<JobTerms> decode_job(std::string_view bytes) {
  JobTerms terms;
  if (bytes.empty()) return terms;
  codec::ByteReader from(as_bytes(bytes));
  const auto present = from.get<uint16_t>();
  const auto words = from.get<uint16_t>();
  const auto variables = from.get<uint16_t>();
  from.expect_zero(2);
  const auto timeout_ms = from.get<int64_t>();
  const auto keep_ms = from.get<int64_t>();
  if ((present & ~(kHasTimeout | kHasKeep)) != 0) return std::nullopt;
  if ((present & kHasTimeout) != 0) terms.timeout_ms = timeout_ms;
  if ((present & kHasKeep) != 0) terms.keep_ms = keep_ms;
  terms.cwd = take_text(from);
  for (uint16_t i = 0; i < words && !from.broken(); ++i) terms.argv.push_back(take_text(from));
  for (uint16_t i = 0; i < variables && !from.broken(); ++i) terms.env.push_back(take_text(from));
  if (!from.ended_well()) return std::nullopt;
  return terms;
}

JobTraits traits_of_job(std::string_view bytes) {
  codec::ByteReader from(as_bytes(bytes));
  const auto present = from.get<uint16_t>();
  const auto words = from.get<uint16_t>();
  return {(present & kHasKeep) != 0, words != 0};
}

}  // namespace fq
