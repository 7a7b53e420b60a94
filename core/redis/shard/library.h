// library - the program that runs on the server: Redis functions, joined from core/redis/lua at build.
#pragma once

// System.
#include <string_view>

namespace fq {

struct Library {
  std::string_view name;  // with its text's hash, as each of its functions: NAME_push, ...
  std::string_view text;
  std::string_view commands;  // of the server that it calls, with blanks between
};

const Library& redis_library();

}  // namespace fq
