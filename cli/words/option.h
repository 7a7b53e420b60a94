// option - one table a command: the name of each option, the value that it takes, and its explanation.
//
// The same table makes the parser (cli/words/arguments.cpp), `--help` (cli/session/help.cpp) and, through a
// test, holds man/ and completions/ to itself. So an option exists in exactly one place.
#pragma once

// System.
#include <span>
#include <string_view>

namespace fq::cli {

enum class Takes {
  nothing,
  value,     // --opt VALUE or --opt=VALUE
  optional,  // --opt, --opt VALUE or --opt=VALUE
  attached,  // --opt or --opt=VALUE, never the next argument
};

struct OptionSpec {
  std::string_view group;      // heading in --help
  char short_name;             // 0: none
  std::string_view long_name;  // without the dashes
  Takes takes;
  std::string_view value_name;  // as shown
  std::string_view help;        // with its default
};

inline constexpr OptionSpec kSpoolOption = {"General",    0,     "spool",
                                            Takes::value, "DIR", "the spool (default: $FQ_SPOOL)"};
inline constexpr OptionSpec kQueueOption = {
    "General", 'q', "queue", Takes::value, "QUEUE", "the queue (default: $FQ_QUEUE, else default)"};
inline constexpr OptionSpec kQueuesOption = {
    "General", 'q', "queue", Takes::value, "QUEUE", "only this queue (default: $FQ_QUEUE, else all)"};
inline constexpr OptionSpec kHelpOption = {"General", 'h', "help", Takes::nothing, "", "this text"};
inline constexpr OptionSpec kFormatOption = {"Output", 0, "format", Takes::value, "FORMAT", ""};
inline constexpr OptionSpec kJsonOption = {"Output",       0,  "json",
                                           Takes::nothing, "", "short for --format json"};
inline constexpr OptionSpec kRawOption = {"Output",       0,  "raw",
                                          Takes::nothing, "", "exact payload bytes, nothing between"};

struct OptionTable {
  std::span<const OptionSpec> own;
  const OptionSpec* queue = &kQueueOption;  // its -q, with --spool; nullptr: neither
  std::string_view formats = "";            // the values of --format, "human|json"; "": no --format
  bool takes_job = false;                   // "-- CMD ARG..."
  bool needs_spool = true;                  // else it may go on where there is no place for one
};

}  // namespace fq::cli
