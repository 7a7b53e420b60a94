// texts - the files of the repository that have to agree with the option tables.
#pragma once

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "cli/words/command.h"
#include "tests/catch.h"

namespace fq::cli {

inline std::string read_text(const std::string& path) {
  std::ifstream file(std::string(FQ_SOURCE) + "/" + path);
  INFO(path);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace fq::cli
