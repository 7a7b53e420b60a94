#include "core/base/tenant_name.h"

// System.
#include <algorithm>
#include <array>
#include <cstring>
// fq, this room.
#include "core/base/limits.h"
#include "core/base/text/decimal.h"
#include "core/base/text/utf8.h"

namespace fq {

namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
// Of a name of such characters alone nothing but its length can be wrong: almost all names, and each push
// asks.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = '!'; c <= '~'; ++c) plain[static_cast<size_t>(c)] = c != '/' && c != '.';
  return plain;
}();

/// Whether eight characters are all so: what is told of each by its byte, told of all at once.
bool are_plain(const char* at) {
  constexpr uint64_t kOnes = UINT64_MAX / 255, kHighs = 128 * kOnes;
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  const uint64_t past_ascii = word | (word + kOnes);  // 0x7f too; a carry comes from 0xff alone
  const uint64_t below = word - '!' * kOnes;
  const uint64_t dot_or_slash = ((word & ~kOnes) ^ ('.' * kOnes)) - kOnes;  // 0 where it is one, less 1
  static_assert(('.' | 1) == '/');
  return ((past_ascii | below | dot_or_slash) & kHighs) == 0;
}

/// Whether all of it is so. Needs: it is not empty.
bool has_plain_characters(std::string_view name) {
  constexpr size_t kWord = sizeof(uint64_t);
  if (name.size() < kWord)
    return std::ranges::all_of(name, [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
  for (size_t at = 0; at + kWord < name.size(); at += kWord)
    if (!are_plain(name.data() + at)) return false;
  return are_plain(name.data() + name.size() - kWord);  // the rest, with some that were looked at
}

/// Apart, since few names come here.
[[gnu::noinline]] std::string_view fault_of_levels(std::string_view name) {
  for (std::string_view rest = name; !rest.empty();) {
    const Utf8Char next = utf8_next(rest);
    if (next.bytes == 0) return "is not UTF-8";
    if (is_control(next.code)) return "has a control character in it";
    rest.remove_prefix(next.bytes);
  }
  size_t levels = 0;
  for (size_t start = 0; start <= name.size(); ++levels) {
    const size_t end = std::min(name.find('/', start), name.size());
    const std::string_view level = name.substr(start, end - start);
    if (level.empty()) return "has an empty level";
    if (level == "." || level == "..") return "has a level '.' or '..'";
    start = end + 1;
  }
  return levels > kTenantLevelsMax ? "has more than 8 levels" : "";
}

}  // namespace

std::string_view tenant_name_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kTenantBytesMax) return "is longer than 255 bytes";
  return has_plain_characters(name) ? std::string_view() : fault_of_levels(name);
}

std::string_view queue_name_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kQueueNameBytesMax) return "is longer than 64 characters";
  if (name[0] == '.' || name[0] == '-') return "begins with '.' or '-'";
  for (const char c : name) {
    if (!is_letter(c) && !is_digit(c) && c != '.' && c != '_' && c != '-') {
      return "may only have A-Z a-z 0-9 . _ and - in it";
    }
  }
  return "";
}

bool is_shell_name(std::string_view name) {
  if (name.empty() || is_digit(name[0])) return false;
  for (const char c : name) {
    if (!is_letter(c) && !is_digit(c) && c != '_') return false;
  }
  return true;
}

}  // namespace fq
