#include "core/local/files/ended/ended_steps.h"

// fq, below us.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr size_t kStepFixedBytes = 18;

}  // namespace

std::string encode_ended_steps(const std::vector<StepInfo>& steps) {
  size_t bytes = 0;
  for (const StepInfo& step : steps) bytes += kStepFixedBytes + step.name.size();
  std::string text(bytes, '\0');
  codec::ByteWriter to(std::as_writable_bytes(std::span(text)));
  for (const StepInfo& step : steps) {
    to(step.kind, static_cast<uint8_t>(step.name.size()), step.at_wall_ms, step.bytes);
    to.put_text(step.name);
  }
  return text;
}

std::vector<StepInfo> decode_ended_steps(std::string_view text) {
  std::vector<StepInfo> steps;
  codec::ByteReader from(as_bytes(text));
  while (from.left() > 0) {
    StepInfo step;
    uint8_t name_bytes = 0;
    from(step.kind, name_bytes, step.at_wall_ms, step.bytes);
    step.name = from.take_text(name_bytes);
    if (from.broken() || step.kind < StepKind::run || step.kind > kLastStepKind) break;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace fq
