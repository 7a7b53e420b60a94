// moment - a directory as it was at one moment, to be put back as often as a test likes.
//
// Files are put back in place: the same inodes, so that a segment still knows its `lock`, and what lies in
// a file that nobody has mapped, dead holders' lock words included, is as it was. Needs: no process at
// work in the directory.
#pragma once

// System.
#include <sys/types.h>

#include <map>
#include <string>

namespace fq::test {

class Moment {
 public:
  static Moment of(const std::string& directory);
  void put_back() const;

 private:
  struct Item {
    mode_t mode;
    std::string bytes;  // of a file
  };
  std::string directory_;
  std::map<std::string, Item> items_;  // by path within it, directories before what lies in them
};

}  // namespace fq::test
