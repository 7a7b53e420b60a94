// redis_engines - of fq-redis: queues on servers, the password that they want, and the key by which commands
// in messages are signed.
//
// The password is in a file or in the environment, and never in a URL or an argument, which others can see;
// the key is in a file.

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/text/escape.h"
#include "core/redis/redis_engine.h"
// fq, this room.
#include "cli/redis_engines.h"
#include "cli/terminal/environment.h"

namespace fq {

namespace {

constexpr const char* kPassword = "FQ_REDIS_PASSWORD";
constexpr const char* kPasswordFile = "FQ_REDIS_PASSWORD_FILE";
constexpr const char* kCommandKeyFile = "FQ_REDIS_COMMAND_KEY_FILE";
constexpr const char* kCa = "FQ_REDIS_CA";
constexpr const char* kCertificate = "FQ_REDIS_CERT";
constexpr const char* kKey = "FQ_REDIS_KEY";
constexpr off_t kSecretBytesMax = 1024;     // arbitrary
constexpr size_t kCommandKeyBytesMin = 16;  // fewer could be guessed

/// The text in the file that this variable names, for nobody's eyes but ours.
Result<std::string> read_secret_file(std::string_view variable, const std::string& path) {
  const auto config = [&](std::string_view what) {
    return Error{ErrorKind::config, std::string(variable) + ": " + in_quotes(path) + ": " + std::string(what),
                 0};
  };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) return config("cannot be opened: " + std::generic_category().message(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return sys_error("stat", path, errno);
  if (!S_ISREG(info.st_mode)) return config("is not a regular file");
  if (info.st_uid != ::geteuid()) return config("belongs to somebody else; use a file of your own");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) return config("is open to others; run chmod 600 on it");
  if (info.st_size > kSecretBytesMax) return config("is larger than 1KiB");
  std::string text(static_cast<size_t>(info.st_size), '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return sys_error("read", path, errno);
  text.resize(static_cast<size_t>(got));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) return config("is empty");
  return text;
}

/// Jobs inherit these, and run in other directories.
bool name_files_from_the_root() {
  for (const char* variable : {kPasswordFile, kCommandKeyFile, kCa, kCertificate, kKey}) {
    const std::string path = cli::environment(variable).value_or("");
    if (path.empty() || path.front() == '/') continue;
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path, error);
    if (!error) ::setenv(variable, whole.c_str(), 1);  // else opening it says what is wrong
  }
  return true;
}
[[maybe_unused]] const bool are_named_from_the_root = name_files_from_the_root();

/// Out of the environment, before anything is started that would inherit it; in its place nothing is left
/// that others of this user could read in /proc.
std::string take_password() {
  const std::string password = cli::environment(kPassword).value_or(std::string());
  if (char* const value = std::getenv(kPassword)) ::explicit_bzero(value, std::strlen(value));
  ::unsetenv(kPassword);
  return password;
}
const std::string password_of_environment = take_password();

/// A file that cannot be used is never passed over for the other.
Result<std::string> password() {
  if (const auto path = cli::environment(kPasswordFile)) return read_secret_file(kPasswordFile, *path);
  return password_of_environment;
}

Result<std::string> command_key() {
  const auto path = cli::environment(kCommandKeyFile);
  if (!path) return std::string();
  FQ_TRY_SET(std::string key, read_secret_file(kCommandKeyFile, *path));
  if (key.size() >= kCommandKeyBytesMin) return key;
  return Error{ErrorKind::config,
               std::string(kCommandKeyFile) + ": " + in_quotes(*path) +
                   ": has fewer than 16 bytes; make another: head -c 32 /dev/urandom | base64",
               0};
}

TlsFiles tls_files() {
  return {cli::environment(kCa).value_or(""), cli::environment(kCertificate).value_or(""),
          cli::environment(kKey).value_or("")};
}

}  // namespace

bool has_password_of_its_own() {
  return !password_of_environment.empty() && !cli::environment(kPasswordFile);
}

const RedisEngine& redis_engine() {
  static const RedisEngine redis(redis_library(), password, false, tls_files, command_key, "/proc/self/exe");
  return redis;
}

std::span<const Engine* const> engines() {
  static const Engine* const all[] = {&redis_engine()};
  return all;
}

}  // namespace fq
