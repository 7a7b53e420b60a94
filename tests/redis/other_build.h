// other_build - the library of the tests' clock as another build of fq has it: under another name.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/redis/redis_engine.h"
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

class OtherBuild {
 public:
  /// `digit`: one of a hash, by which it differs from others.
  explicit OtherBuild(char digit)
      : name_("fq_" + std::string(16, digit)), text_(renamed(told_time_library(), name_)) {}
  OtherBuild(const OtherBuild&) = delete;
  OtherBuild& operator=(const OtherBuild&) = delete;

  const std::string& name() const { return name_; }
  const RedisEngine& engine() const { return engine_; }

 private:
  static std::string renamed(const fq::Library& library, const std::string& name) {
    std::string text(library.text);
    for (size_t at; (at = text.find(library.name)) != std::string::npos;)
      text.replace(at, library.name.size(), name);
    return text;
  }

  const std::string name_, text_;
  const fq::Library library_{name_, text_, told_time_library().commands};
  const RedisEngine engine_{library_, no_password, true, nullptr, a_command_key};
};

}  // namespace fq::test
