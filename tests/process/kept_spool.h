// kept_spool - a spool as it was, put back as often as wanted. In place: a `lock` of another inode would make
// it a copy, whose segment is not used.
#pragma once

// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

class KeptSpool {
 public:
  explicit KeptSpool(const Spool& spool) : path_(spool.path()), kept_(spool.directory() + "/kept") {
    if (std::filesystem::exists(path_))
      std::filesystem::copy(path_, kept_, std::filesystem::copy_options::recursive);
  }
  void put_back() const {
    namespace fs = std::filesystem;
    if (!fs::exists(kept_)) {
      fs::remove_all(path_);
      return;
    }
    std::vector<fs::path> extra;
    if (fs::exists(path_)) {
      for (const auto& item : fs::recursive_directory_iterator(path_)) {
        if (!fs::exists(kept_ / fs::relative(item.path(), path_))) extra.push_back(item.path());
      }
    }
    for (const fs::path& each : extra) fs::remove_all(each);
    fs::copy(kept_, path_, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }

 private:
  std::filesystem::path path_;
  std::filesystem::path kept_;
};

}  // namespace fq::test
