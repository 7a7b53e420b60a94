#include "cli/words/subcommand.h"

// System.
#include <algorithm>
#include <string>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/suggestion.h"
// fq, this room.
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr Synonym kVerbSynonyms[] = {
    {"ls", "list"},         {"show", "list"},      {"status", "list"},   {"get", "show"},
    {"list", "show"},       {"dump", "show"},      {"print", "show"},    {"view", "show"},
    {"rm", "remove"},       {"delete", "remove"},  {"drop", "remove"},   {"clear", "purge"},
    {"empty", "purge"},     {"flush", "purge"},    {"add", "create"},    {"new", "create"},
    {"make", "create"},     {"suspend", "pause"},  {"stop", "pause"},    {"hold", "pause"},
    {"disable", "pause"},   {"block", "pause"},    {"freeze", "pause"},  {"unpause", "resume"},
    {"continue", "resume"}, {"start", "resume"},   {"enable", "resume"}, {"unsuspend", "resume"},
    {"unblock", "resume"},  {"release", "resume"}, {"thaw", "resume"},   {"unset", "set"},
    {"config", "set"},      {"configure", "set"},  {"edit", "set"},      {"update", "set"},
    {"throttle", "limit"},  {"delay", "limit"},    {"backoff", "limit"}, {"close", "drain"},
    {"shutdown", "drain"},  {"validate", "check"}, {"verify", "check"},  {"test", "check"},
    {"lint", "check"},      {"file", "path"},      {"where", "path"},    {"set-weight", "set"},
};

std::string use_text(std::span<const std::string_view> names) {
  std::string text = "use ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

Error missing_subcommand(std::string_view command, std::span<const std::string_view> names) {
  return usage_error(command, "needs a command; " + use_text(names));
}

Error unknown_subcommand(std::string_view command, std::string_view word,
                         std::span<const std::string_view> names) {
  std::string_view near;
  for (const Synonym& synonym : kVerbSynonyms) {
    const bool has = std::find(names.begin(), names.end(), synonym.ours) != names.end();
    if (near.empty() && has && synonym.theirs == word) near = synonym.ours;
  }
  if (near.empty()) near = suggest(word, names);
  const std::string hint = near.empty() ? use_text(names) : "did you mean " + std::string(near) + "?";
  return usage_error(command, "unknown command " + in_quotes(word) + "; " + hint);
}

}  // namespace fq::cli
