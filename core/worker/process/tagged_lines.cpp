#include "core/worker/process/tagged_lines.h"

// System.
#include <algorithm>

namespace fq::worker {

std::string TaggedLines::take(std::string_view bytes) {
  if (tag_.empty()) return std::string(bytes);
  std::string lines;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const size_t room = kLineBytesMax - begun_.size();
    const size_t taken = std::min({end, bytes.size(), room});
    begun_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    const bool ends = !bytes.empty() && bytes[0] == '\n';
    if (ends) bytes.remove_prefix(1);
    if (ends || begun_.size() == kLineBytesMax)
      lines.append(tag_).append(begun_).append("\n"), begun_.clear();
  }
  return lines;
}

std::string TaggedLines::finish() {
  if (begun_.empty()) return "";
  std::string line = tag_ + begun_ + "\n";
  begun_.clear();
  return line;
}

}  // namespace fq::worker
