#include "core/base/time/zone_file.h"

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/text/escape.h"

namespace fq {

namespace {

constexpr size_t kFileBytesMax = 1024 * 1024;  // the largest there is has some 4 KiB

bool is_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '-' || c == '+';
  };
  return !name.empty() && name.size() <= kZoneNameBytesMax && name.front() != '/' && name.front() != '-' &&
         name.back() != '/' && name.find("//") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), fits);
}

Error refuse_unknown(std::string_view name) {
  return Error{ErrorKind::usage,
               "tz: " + in_quotes(name) + " is not a known time zone; write one like Europe/Berlin or UTC",
               0};
}

/// A directory that a removed tzdata left behind is none: each database has UTC.
bool is_database(const std::string& directory) {
  return ::access((directory + "/Etc/UTC").c_str(), F_OK) == 0;
}

/// Nothing: it is not there, or no file.
Result<std::vector<std::byte>> read_all(const std::string& path) {
  std::vector<std::byte> bytes;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return bytes;
  if (!file) return Error{ErrorKind::config, sys_error("open", path, errno).text, errno};
  struct stat about {};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return bytes;
  for (;;) {
    constexpr size_t kReadStep = 16 * 1024;
    const size_t known = bytes.size();
    if (known > kFileBytesMax) return bytes;
    bytes.resize(known + kReadStep);
    const ssize_t got = ::read(file.get(), bytes.data() + known, kReadStep);
    if (got < 0) return Error{ErrorKind::config, sys_error("read", path, errno).text, errno};
    bytes.resize(known + static_cast<size_t>(got));
    if (got == 0) return bytes;
  }
}

}  // namespace

bool is_zone_file(const std::string& path) {
  constexpr std::string_view kMagic = "TZif";
  const Result<std::vector<std::byte>> bytes = read_all(path);
  return bytes.ok() && bytes->size() > kMagic.size() &&
         std::memcmp(bytes->data(), kMagic.data(), kMagic.size()) == 0;
}

Result<Zone> load_zone(std::string_view name, const std::string& directory) {
  if (name == "UTC") return Zone();
  if (const std::optional<ZoneRule> rule = ZoneRule::parse(name)) return Zone(*rule);
  if (!is_name(name)) return refuse_unknown(name);
  const std::string database = directory.empty() ? std::string(kSystemZones) : directory;
  const std::string path = database + "/" + std::string(name);
  FQ_TRY_SET(const std::vector<std::byte> bytes, read_all(path));
  if (bytes.empty() && !is_database(database)) {
    return Error{ErrorKind::config,
                 "tz: there is no time zone database in " + database + "; install tzdata, or use UTC", 0};
  }
  if (bytes.empty()) return refuse_unknown(name);
  if (std::optional<Zone> zone = Zone::parse(bytes)) return std::move(*zone);
  return Error{ErrorKind::config, path + ": is not a file of time zones that can be used", 0};
}

std::string system_zone_name() {
  std::array<char, 4096> target;
  const ssize_t bytes = ::readlink("/etc/localtime", target.data(), target.size());
  if (bytes <= 0) return "UTC";
  const std::string_view path(target.data(), static_cast<size_t>(bytes));
  constexpr std::string_view kPlace = "zoneinfo/";
  const size_t at = path.find(kPlace);
  const std::string_view name = at == std::string_view::npos ? "" : path.substr(at + kPlace.size());
  return is_name(name) ? std::string(name) : "UTC";
}

}  // namespace fq
