// counted_lines - lines for a person: all are counted, the first of them kept, since a person reads no more.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fq {

struct CountedLines {
  static constexpr size_t kKeptMax = 100;  // arbitrary

  std::vector<std::string> lines;
  uint64_t count = 0;

  void add(std::string line) {
    ++count;
    if (lines.size() < kKeptMax) lines.push_back(std::move(line));
  }
  void append(const std::string& front, const CountedLines& more) {
    for (const std::string& line : more.lines) add(front + line);
    count += more.count - more.lines.size();
  }
  bool empty() const { return count == 0; }
};

}  // namespace fq
