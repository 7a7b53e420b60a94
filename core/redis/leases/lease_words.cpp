#include "core/redis/leases/lease_words.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <span>
// fq, below us.
#include "core/base/text/size.h"
// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

namespace {

constexpr uint64_t kRedisOutputBytesMax = 16 * 1024 * 1024;  // of one message

}  // namespace

SettleReply lease_behind(SettleReply reply, Result<LeaseReply> next) {
  reply.next.reset();
  if (next) reply.next = std::move(next).value();
  if (!next) reply.error = std::move(next).error();
  return reply;
}

std::string bytes_wanted(const LeaseRequest* request, size_t want, uint64_t bytes_left, bool any_first,
                         unsigned again, const Heard& heard, unsigned bell) {
  static const LeaseRequest nothing;
  const LeaseRequest& wanted = request == nullptr ? nothing : *request;
  const bool living = wanted.hold == Hold::process;
  Packer packer;
  packer.number(static_cast<double>(want))
      .number(static_cast<double>(bytes_left))
      .number(static_cast<double>(wanted.hold_ms.value_or(-1)))
      .number(static_cast<double>(wanted.attempts_max.value_or(0)))
      .number(wanted.grouped ? static_cast<double>(std::max<uint64_t>(wanted.group_max, 1)) : 0.0)
      .number(static_cast<uint32_t>(::getpid()))
      .number(static_cast<uint8_t>(any_first))
      .number(static_cast<uint8_t>(living))
      .number(static_cast<uint8_t>(wanted.watch))
      .number(static_cast<uint8_t>(again))
      .number(static_cast<double>(heard.serial))
      .number(static_cast<uint8_t>(bell | (wanted.until_idle ? kAsksIdle : 0)))
      .number(static_cast<uint8_t>(heard.news.size()))
      .raw(heard.news);
  return packer.bytes();
}

Result<std::string> output_bytes(const JobOutput* output) {
  if (output == nullptr || output->keep_ms <= 0) return std::string();
  JobOutput whole = *output;
  if (output->run != nullptr) {
    for (const Channel channel : kChannels) {
      std::string& text = channel == Channel::out ? whole.out : whole.err;
      (channel == Channel::out ? whole.out_gap : whole.err_gap) = output->run->gap(channel);
      text.resize(output->run->kept_bytes(channel));
      FQ_TRY(output->run->read_kept(channel, 0, std::as_writable_bytes(std::span(text))));
    }
  }
  if (whole.out.size() + whole.err.size() > kRedisOutputBytesMax) {
    return Error{ErrorKind::bad_data,
                 "output: has more than " + format_size(kRedisOutputBytesMax) + ", the limit on a server", 0};
  }
  Packer packer;
  packer.number(static_cast<double>(whole.keep_ms));
  for (const Gap& gap : {whole.out_gap, whole.err_gap})
    packer.number(static_cast<double>(gap.at)).number(static_cast<double>(gap.bytes));
  packer.number(static_cast<uint32_t>(whole.out.size())).raw(whole.out).raw(whole.err);
  return packer.bytes();
}

std::string extension(size_t count, int64_t duration_ms) {
  Packer packer;
  packer.number(static_cast<double>(count)).number(static_cast<double>(duration_ms));
  return packer.bytes();
}

SettleStatus status_of(const Reply& answer) {
  if (answer.text == "ok") return SettleStatus::ok;
  if (answer.text == "buried") return SettleStatus::buried;
  if (answer.text == "slept") return SettleStatus::slept;
  if (answer.text == "stale") return SettleStatus::stale;
  return answer.text == "gone" ? SettleStatus::gone : SettleStatus::unknown;
}

}  // namespace fq
