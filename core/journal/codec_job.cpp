// codec_job - the job of a message, which says how it is to be run, as bytes in its item.
//
//   u16 present (1 timeout, 2 keep, 4 call), u16 words of argv, u16 variables, u16 zero, i64 timeout, i64
//   keep, with 4 u64 call, then each text as {u16 bytes, bytes}: the working directory, argv, the variables

// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint16_t kHasTimeout = 1;
constexpr uint16_t kHasKeep = 2;
constexpr uint16_t kHasCall = 4;

}  // namespace

namespace codec {

template <class V>
void text_field(V& v, auto& text) {
  uint16_t bytes = v.size(text.size());
  v(bytes);
  v(Text{text, bytes});
}

template <class V>
void text_fields(V& v, auto& texts, uint16_t count) {
  if constexpr (V::kReads)
    for (; count > 0 && !v.broken(); --count) text_field(v, texts.emplace_back());
  else
    for (const std::string_view text : texts) text_field(v, text);
}

template <class V>
void fields(V& v, Of<JobTerms> auto& terms) {
  auto present = static_cast<uint16_t>((terms.timeout_ms ? kHasTimeout : 0) | (terms.keep_ms ? kHasKeep : 0) |
                                       (terms.call != 0 ? kHasCall : 0));
  uint16_t words = v.size(terms.argv.size());
  uint16_t variables = v.size(terms.env.size());
  int64_t timeout_ms = terms.timeout_ms.value_or(0);
  int64_t keep_ms = terms.keep_ms.value_or(0);
  v(present, words, variables, Zeros<2>{}, timeout_ms, keep_ms);
  if ((present & kHasCall) != 0) v(terms.call);
  text_field(v, terms.cwd);
  text_fields(v, terms.argv, words);
  text_fields(v, terms.env, variables);
  if constexpr (V::kReads) {
    if ((present & ~(kHasTimeout | kHasKeep | kHasCall)) != 0) v.fail();
    if ((present & kHasTimeout) != 0) terms.timeout_ms = timeout_ms;
    if ((present & kHasKeep) != 0) terms.keep_ms = keep_ms;
  }
}

}  // namespace codec

std::string encode_job(const JobTerms& terms) {
  const bool empty = !terms.timeout_ms && !terms.keep_ms && terms.call == 0 && terms.argv.empty();
  return empty ? std::string() : codec::encode_text(terms);
}

std::optional<JobTerms> decode_job(std::string_view bytes) {
  std::optional<JobTerms> terms(std::in_place);
  if (!bytes.empty() && !codec::decode(as_bytes(bytes), *terms)) terms.reset();
  return terms;
}

JobTraits traits_of_job(std::string_view bytes) {
  codec::ByteReader from(as_bytes(bytes));
  const auto present = from.get<uint16_t>();
  const auto words = from.get<uint16_t>();
  return {(present & kHasKeep) != 0, words != 0};
}

}  // namespace fq
