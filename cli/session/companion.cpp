#include "cli/session/companion.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/terminal/input.h"
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

constexpr std::string_view kUnixScheme = "redis+unix";
constexpr std::array<std::string_view, 3> kRedisSchemes = {"redis", "rediss", kUnixScheme};
constexpr const char* kPlaces[] = {"fq-redis", "../libexec/fq/fq-redis"};

/// A URL of ours that was mistyped: read as a directory it would be made without a word.
Result<void> check_url(std::string_view spool) {
  const std::string_view typed = spool.substr(0, spool.find(':'));
  if (typed.size() == spool.size()) return {};
  std::string scheme(typed);
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const bool is_its = std::find(kRedisSchemes.begin(), kRedisSchemes.end(), scheme) != kRedisSchemes.end();
  if (!is_its || spool.starts_with(scheme + "://")) return {};
  // Whatever else it says may be a password.
  const std::string name(typed);
  const std::string form = scheme + (scheme == kUnixScheme ? ":///PATH" : "://HOST");
  return Error{ErrorKind::usage,
               "spool '" + name + ":...': is no URL as fq writes it; write " + form + ", or ./" + name +
                   ":... for a directory",
               0};
}

/// The file that a path leads to; "": there is none.
std::string file_at(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> file(::realpath(path.c_str(), nullptr), &std::free);
  return file ? file.get() : std::string();
}

/// Comes back only when that cannot be.
Error go_on_as_companion(char** argv, std::string_view scheme) {
  const std::string own = file_at("/proc/self/exe");
  for (const char* const place : kPlaces) {
    const std::string path = file_at(own.substr(0, own.rfind('/') + 1) + place);
    if (own.empty() || path.empty() || path == own)
      continue;  // who is called so and is not it would go on for ever
    leave_as_at_start();
    let_go_of_standard_descriptors();
    ::execve(path.c_str(), argv, environ);
    const int fault = errno;
    hold_standard_descriptors();
    block_signals();
    make_nothing_for_others();
    return sys_error("run", path, fault);
  }
  return Error{ErrorKind::unusable,
               "spool '" + std::string(scheme) +
                   "://...': is kept by fq-redis, which is not there; install fairq-redis",
               0};
}

}  // namespace

Result<void> find_engine_or_companion(char** argv, const std::string& spool) {
  FQ_TRY(check_url(spool));
  const std::string_view scheme = scheme_of(spool);
  const bool is_its = std::find(kRedisSchemes.begin(), kRedisSchemes.end(), scheme) != kRedisSchemes.end();
  if (!is_its || has_engine(spool)) return find_engine(spool);
  return go_on_as_companion(argv, scheme);
}

}  // namespace fq::cli
