#include "core/redis/wire/redis_place.h"

// System.
#include <sys/un.h>

#include <algorithm>
#include <optional>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"

namespace fq {

namespace {

constexpr size_t kPrefixBytesMax = 64;
constexpr size_t kHostsMax = 64;  // arbitrary: a person wrote them

class PlaceReader {
 public:
  explicit PlaceReader(std::string_view spool) : spool_(spool) {}

  Result<RedisPlace> read() {
    std::string_view rest = spool_;
    const size_t colon = rest.find("://");
    const std::string_view scheme = rest.substr(0, colon);
    rest.remove_prefix(std::min(rest.size(), colon + 3));
    place_.is_sealed = scheme == "rediss";
    std::string_view options;
    if (const size_t mark = rest.find('?'); mark != std::string_view::npos) {
      options = rest.substr(mark + 1);
      rest = rest.substr(0, mark);
    }
    FQ_TRY(scheme == "redis+unix" ? read_socket(rest) : read_authority(rest));
    FQ_TRY(read_options(options));
    return place_;
  }

 private:
  /// What the sentence is about. A URL with a password in it is not repeated; other programs' URLs have
  /// theirs among the options.
  std::string object() const {
    const size_t at = spool_.find('@'), mark = spool_.find('?');
    if (at == std::string_view::npos)
      return "spool " + in_quotes(spool_.substr(0, mark)) + (mark == std::string_view::npos ? "" : "?...") +
             ": ";
    return "spool '" + std::string(spool_.substr(0, spool_.find("://") + 3)) + "...'" + ": ";
  }
  Error wrong(std::string_view what) const { return {ErrorKind::usage, object() + std::string(what), 0}; }

  Result<void> read_socket(std::string_view path) {
    if (!path.starts_with('/')) return wrong("names no absolute path; write redis+unix:///run/redis.sock");
    if (path.size() >= sizeof(sockaddr_un::sun_path))
      return wrong("the path of a socket has 107 bytes at most");
    place_.socket = path;
    return {};
  }

  Result<void> read_authority(std::string_view text) {
    if (const size_t at = text.rfind('@'); at != std::string_view::npos) {
      const std::string_view user = text.substr(0, at);
      text.remove_prefix(at + 1);
      if (user.find(':') != std::string_view::npos)
        return wrong(
            "has a password in it, which others can read; put it into a file and name that in "
            "FQ_REDIS_PASSWORD_FILE");
      if (user.empty()) return wrong("names no user before the '@'");
      place_.user = user;
    }
    if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
      const std::string_view database = text.substr(slash + 1);
      text = text.substr(0, slash);
      if (!database.empty()) FQ_TRY(read_database(database));
    }
    while (true) {
      const size_t comma = text.find(',');
      FQ_TRY(read_host(text.substr(0, comma)));
      if (comma == std::string_view::npos) return {};
      text.remove_prefix(comma + 1);
    }
  }

  Result<void> read_host(std::string_view text) {
    RedisPlace::Host host;
    const size_t bracket = text.find(']');
    if (text.starts_with('[') && bracket != std::string_view::npos) {
      host.name = text.substr(1, bracket - 1);
      text.remove_prefix(bracket + 1);
    } else {
      const size_t colon = text.find(':');
      host.name = text.substr(0, colon);
      text.remove_prefix(std::min(text.size(), colon));
    }
    if (host.name.empty()) return wrong("names no host");
    if (!text.empty()) {
      const auto port = text[0] == ':' ? parse_decimal(text.substr(1)) : std::nullopt;
      if (!port || *port == 0 || *port > UINT16_MAX) return wrong("has a port that is none; write HOST:6379");
      host.port = static_cast<uint16_t>(*port);
    }
    if (place_.hosts.size() == kHostsMax) return wrong("names more than 64 hosts");
    place_.hosts.push_back(std::move(host));
    return {};
  }

  Result<void> read_database(std::string_view text) {
    const auto number = parse_decimal(text);
    if (!number || *number > INT32_MAX) return wrong("has a database that is no number");
    place_.database = static_cast<uint32_t>(*number);
    return {};
  }

  Result<void> read_options(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('&'), text.size());
      const std::string_view option = text.substr(0, end);
      text.remove_prefix(std::min(text.size(), end + 1));
      const size_t sign = option.find('=');
      if (sign == std::string_view::npos) return wrong("has an option without a value; write NAME=VALUE");
      FQ_TRY(take_option(option.substr(0, sign), option.substr(sign + 1)));
    }
    return {};
  }

  Result<void> take_option(std::string_view name, std::string_view value) {
    if (name == "db" && !place_.socket.empty()) return read_database(value);
    if (name == "durability") return read_level(value);
    if (name == "connect") return read_duration(value, place_.connect_ms);
    if (name == "timeout") return read_duration(value, place_.call_ms);
    if (name == "poll") return read_duration(value, place_.poll_ms);
    if (name != "prefix")
      return wrong(
          "has an option that there is not; there are prefix, durability, connect, timeout, poll and, of a "
          "socket, db");
    const bool fits = !value.empty() && value.size() <= kPrefixBytesMax;
    if (!fits || !std::all_of(value.begin(), value.end(), is_plain))
      return wrong("has a prefix that is none: 1 to 64 of A-Z a-z 0-9 . _ -");
    place_.prefix = value;
    return {};
  }

  Result<void> read_level(std::string_view value) {
    for (const Level level : {Level::async, Level::replica, Level::strict}) {
      if (value != name_of(level)) continue;
      place_.level = level;
      return {};
    }
    return wrong("has a durability that is none: async, replica or strict");
  }

  Result<void> read_duration(std::string_view value, int64_t& ms) {
    const DurationParse read = parse_duration(value);
    const bool is_one = read.fault == DurationFault::none && read.ms > 0;
    if (!is_one) return wrong("has a time that is none; write 500ms, 2s or 1m");
    ms = read.ms;
    return {};
  }

  static bool is_plain(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  }

  std::string_view spool_;
  RedisPlace place_;
};

}  // namespace

std::string_view name_of(Level level) {
  if (level == Level::strict) return "strict";
  return level == Level::replica ? "replica" : "async";
}

Result<RedisPlace> parse_redis_place(std::string_view spool) { return PlaceReader(spool).read(); }

}  // namespace fq
