// message_options - the options of a message that several commands take, each said once.
#pragma once

// fq, this room.
#include "cli/words/arguments.h"

namespace fq::cli::message_option {

inline constexpr OptionSpec kOwner = {
    "Message", 't', "tenant", Takes::value, "PATH", "its tenant (default: $FQ_TENANT, else default)"};
inline constexpr OptionSpec kPriority = {"Message",    'p', "priority",
                                         Takes::value, "N", "higher first (default: 0)"};
inline constexpr OptionSpec kSortKey = {
    "Message", 0, "key", Takes::value, "KEY", "sort key where order is \"key\" (default: none)"};
inline constexpr OptionSpec kDelay = {"Message",    0,     "delay",
                                      Takes::value, "DUR", "not before this long from now (default: none)"};
inline constexpr OptionSpec kAt = {"Message",    0,      "at",
                                   Takes::value, "TIME", "not before this time (default: none)"};
inline constexpr OptionSpec kTtl = {"Message",    0,     "ttl",
                                    Takes::value, "DUR", "dead if not started this long after it is due"};
inline constexpr OptionSpec kAttempts = {"Message",    0,   "attempts",
                                         Takes::value, "N", "runs that count (default: attempts in fq.toml)"};
inline constexpr OptionSpec kLabel = {"Message",    0,     "tag",
                                      Takes::value, "K=V", "a label; may be given again"};
inline constexpr OptionSpec kTypedPayload = {"Message",    0,      "payload",
                                             Takes::value, "TEXT", "also when it begins with '-'"};
inline constexpr OptionSpec kPayloadFile = {"Message",    0,      "file",
                                            Takes::value, "PATH", "read it from a file, '-' is stdin"};
inline constexpr OptionSpec kTimeout = {"Job",        0,     "timeout",
                                        Takes::value, "DUR", "limit of a run (default: timeout in fq.toml)"};
inline constexpr OptionSpec kKeep = {
    "Job", 0, "keep", Takes::value, "DUR", "record and output kept after it (default: retention)"};
inline constexpr OptionSpec kShellText = {"Job",        0,      "shell",
                                          Takes::value, "TEXT", "instead of -- CMD: TEXT for sh -c"};
inline constexpr OptionSpec kVariable = {"Job",        0,     "env",
                                         Takes::value, "VAR", "a variable for CMD; may be given again"};
inline constexpr OptionSpec kAllVariables = {"Job",          0,  "env-all",
                                             Takes::nothing, "", "all of ours but FQ_* for CMD"};

}  // namespace fq::cli::message_option
