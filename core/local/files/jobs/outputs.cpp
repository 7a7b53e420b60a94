// outputs - see outputs.h.
//
//   offset size field                     (little-endian)
//        0    8 magic "fqout2\n\0"
//        8    8 kept until (wall time, ms)
//       16   24 of standard output: its bytes, where some are missing, and how many
//       40   24 of standard error: likewise
//       64    4 CRC32C of both
//       68    4 zero
//       72      standard output, standard error
#include "core/local/files/jobs/outputs.h"

// System.
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/fault_point.h"

namespace fq {

namespace {

constexpr std::string_view kOutputMagic("fqout2\n\0", 8);
constexpr size_t kHeaderBytes = 72;
constexpr size_t kCopyBytes = 64 * 1024;  // arbitrary
constexpr std::string_view kUnfinished = ".new";
constexpr int kUnfinishedTries = 10;  // against who sweeps

struct OutputHeader {
  int64_t until_wall_ms = 0;
  uint64_t out_bytes = 0;
  uint64_t err_bytes = 0;
  Gap out_gap;
  Gap err_gap;
  uint32_t crc = 0;
};

std::string name_of(MessageId id) { return "output/" + std::to_string(number(id)); }
std::string unfinished_name_of(MessageId id, uint32_t pid) {
  return name_of(id) + "." + std::to_string(pid) + std::string(kUnfinished);
}

Result<std::optional<OutputHeader>> read_header(File& file) {
  std::array<std::byte, kHeaderBytes> bytes;
  FQ_TRY_SET(const size_t got, file.read_at(0, bytes));
  if (got != bytes.size() || as_text(Bytes(bytes).first(kOutputMagic.size())) != kOutputMagic) {
    return std::optional<OutputHeader>();
  }
  OutputHeader header;
  header.until_wall_ms = get_number<int64_t>(bytes.data() + 8);
  header.out_bytes = get_number<uint64_t>(bytes.data() + 16);
  header.out_gap = {get_number<uint64_t>(bytes.data() + 24), get_number<uint64_t>(bytes.data() + 32)};
  header.err_bytes = get_number<uint64_t>(bytes.data() + 40);
  header.err_gap = {get_number<uint64_t>(bytes.data() + 48), get_number<uint64_t>(bytes.data() + 56)};
  header.crc = get_number<uint32_t>(bytes.data() + 64);
  // Sizes are compared with what is there before anything is made for them.
  FQ_TRY_SET(const uint64_t size, file.size());
  const uint64_t texts = size - kHeaderBytes;
  if (header.out_bytes > texts || header.err_bytes != texts - header.out_bytes) {
    return std::optional<OutputHeader>();
  }
  return std::optional<OutputHeader>(header);
}

/// Whoever writes an unfinished one holds it; on a fake disk nobody does.
bool take(File& file) { return file.descriptor() < 0 || ::flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0; }

/// A new file that is held, and was not taken away before it was.
Result<std::unique_ptr<File>> make_unfinished(Disk& disk, const std::string& name) {
  for (int attempt = 0; attempt < kUnfinishedTries; ++attempt) {
    // One that a dead process with our number left behind is in nobody's way.
    static_cast<void>(disk.remove(name));
    Result<std::unique_ptr<File>> opened = disk.open(name, OpenMode::create_new);
    if (!opened.ok() && opened.error().sys == ENOENT) {
      FQ_TRY(disk.make_directory("output"));
      opened = disk.open(name, OpenMode::create_new);
    }
    if (!opened.ok()) return opened;
    if (!take(**opened)) continue;
    FQ_TRY_SET(const bool named, (*opened)->has_name());
    if (named) return opened;
  }
  return Error{ErrorKind::io, disk.label() + ": " + name + ": another process takes it away", 0};
}

Result<std::string> read_text(File& file, uint64_t from, uint64_t bytes) {
  std::string text(bytes, '\0');
  FQ_TRY_SET(const size_t got, file.read_at(from, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

/// Behind the header, piece by piece: it may be more than should be in memory at once.
Result<uint32_t> write_texts(File& file, const JobOutput& output) {
  uint32_t crc = 0;
  uint64_t at = kHeaderBytes;
  std::string piece;
  for (const Channel channel : kChannels) {
    const uint64_t bytes = kept_bytes(output, channel);
    for (uint64_t from = 0; from < bytes; from += piece.size()) {
      FQ_TRY_SET(piece, kept_text(output, channel, from, std::min<uint64_t>(kCopyBytes, bytes - from)));
      FQ_TRY(file.write_at(at, as_bytes(piece)));
      crc = crc32c(crc, as_bytes(piece));
      at += piece.size();
    }
  }
  return crc;
}

Result<void> write_header(File& file, const JobOutput& output, int64_t until_wall_ms, uint32_t crc) {
  std::array<std::byte, kHeaderBytes> header = {};
  std::memcpy(header.data(), kOutputMagic.data(), kOutputMagic.size());
  put_number(header.data() + 8, until_wall_ms);
  std::byte* to = header.data() + 16;
  for (const Channel channel : kChannels) {
    const Gap gap = gap_of(output, channel);
    put_number(to, kept_bytes(output, channel));
    put_number(to + 8, gap.at);
    put_number(to + 16, gap.bytes);
    to += 24;
  }
  put_number(to, crc);
  return file.write_at(0, header);
}

Result<void> write_whole(File& file, const JobOutput& output, int64_t until_wall_ms) {
  FQ_TRY_SET(const uint32_t crc, write_texts(file, output));
  return write_header(file, output, until_wall_ms, crc);
}

}  // namespace

uint64_t kept_bytes(const JobOutput& output, Channel channel) {
  if (output.run) return output.run->kept_bytes(channel);
  return channel == Channel::out ? output.out.size() : output.err.size();
}

Gap gap_of(const JobOutput& output, Channel channel) {
  if (output.run) return output.run->gap(channel);
  return channel == Channel::out ? output.out_gap : output.err_gap;
}

Result<std::string> kept_text(const JobOutput& output, Channel channel, uint64_t from, uint64_t bytes) {
  if (!output.run) return (channel == Channel::out ? output.out : output.err).substr(from, bytes);
  std::string text(bytes, '\0');
  FQ_TRY(output.run->read_kept(channel, from, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<void> keep_output(Disk& disk, MessageId id, const JobOutput& output, int64_t until_wall_ms) {
  const std::string name = name_of(id);
  const std::string unfinished = unfinished_name_of(id, static_cast<uint32_t>(::getpid()));
  FQ_TRY_SET(const std::unique_ptr<File> file, make_unfinished(disk, unfinished));
  FQ_POINT("output.made");
  Result<void> written = write_whole(*file, output, until_wall_ms);
  if (written.ok()) written = disk.rename(unfinished, name);
  if (!written.ok()) static_cast<void>(disk.remove(unfinished));
  FQ_POINT("output.kept");
  return written;
}

Result<std::optional<JobOutput>> read_output(Disk& disk, MessageId id, int64_t now_wall_ms) {
  const Result<std::unique_ptr<File>> file = disk.open(name_of(id), OpenMode::read);
  if (!file.ok() && file.error().sys == ENOENT) return std::optional<JobOutput>();
  if (!file.ok()) return file.error();
  FQ_TRY_SET(const std::optional<OutputHeader> header, read_header(**file));
  if (!header || header->until_wall_ms <= now_wall_ms) return std::optional<JobOutput>();
  JobOutput output;
  FQ_TRY_SET(output.out, read_text(**file, kHeaderBytes, header->out_bytes));
  FQ_TRY_SET(output.err, read_text(**file, kHeaderBytes + header->out_bytes, header->err_bytes));
  output.out_gap = header->out_gap;
  output.err_gap = header->err_gap;
  output.keep_ms = header->until_wall_ms - now_wall_ms;
  if (crc32c(crc32c(0, as_bytes(output.out)), as_bytes(output.err)) != header->crc) {
    return std::optional<JobOutput>();
  }
  return std::optional<JobOutput>(std::move(output));
}

Result<void> remove_output(Disk& disk, MessageId id, int64_t until_wall_ms) {
  const Result<std::unique_ptr<File>> file = disk.open(name_of(id), OpenMode::read);
  if (!file.ok()) return {};
  FQ_TRY_SET(const std::optional<OutputHeader> header, read_header(**file));
  if (header && header->until_wall_ms != until_wall_ms) return {};
  return disk.remove(name_of(id));
}

/// Locks are not asked: a killed process lets go of its files one after the other, and of what it lived by
/// maybe before these.
void drop_unfinished(Disk& disk, const RunFile::Name& run, uint32_t pid) {
  const Result<std::unique_ptr<Calls>> calls = Calls::open(disk);
  const bool is_awaited = calls.ok() && *calls && RunFile::is_awaited(disk, run, **calls);
  if (calls.ok() && !is_awaited) static_cast<void>(disk.remove(RunFile::path_of(run)));
  static_cast<void>(disk.remove(unfinished_name_of(run.id, pid)));
}

void drop_forsaken_runs(Disk& disk) {
  const Result<std::vector<std::string>> names = disk.list("output");
  if (!names.ok()) return;
  const Result<std::unique_ptr<Calls>> calls = Calls::open(disk);
  if (!calls.ok() || !*calls) return;
  for (const std::string& name : *names) {
    const std::optional<RunFile::Name> run = RunFile::name_in(name);
    if (run && RunFile::is_forsaken(disk, *run, **calls)) static_cast<void>(disk.remove("output/" + name));
  }
}

Result<void> sweep_outputs(Disk& disk, int64_t now_wall_ms) {
  drop_forsaken_runs(disk);
  Result<std::vector<std::string>> listed = disk.list("output");
  if (!listed.ok() && listed.error().sys == ENOENT) return {};
  FQ_TRY_SET(const std::vector<std::string> names, std::move(listed));
  for (const std::string& name : names) {
    const std::string path = "output/" + name;
    const bool unfinished = name.ends_with(kUnfinished);
    uint64_t id = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), id);
    const bool whole_name = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
    if (!whole_name && !unfinished) continue;
    const Result<std::unique_ptr<File>> file = disk.open(path, OpenMode::read);
    if (!file.ok()) continue;
    bool over = unfinished && take(**file);
    if (!unfinished) {
      FQ_TRY_SET(const std::optional<OutputHeader> header, read_header(**file));
      over = !header || header->until_wall_ms <= now_wall_ms;
    }
    if (over) FQ_TRY(disk.remove(path));
  }
  return {};
}

}  // namespace fq
