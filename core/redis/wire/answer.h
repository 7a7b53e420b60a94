// answer - the meaning of a server's refusal for the caller: one table of its words.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/error.h"

namespace fq {

/// `refusal`: the text of an error reply; `server`: from which, `command`: to which.
Error error_of_refusal(const std::string& server, std::string_view command, std::string_view refusal);

/// It was a push, and a limit of messages or bytes is in the way: an end makes room.
bool says_full(const Error& error);
/// The push is more than a limit by itself: waiting for room is of no use.
bool says_never_fits(const Error& error);

/// This function is not there: the library has to be loaded.
bool lacks_library(std::string_view refusal);

}  // namespace fq
