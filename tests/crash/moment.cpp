#include "tests/crash/moment.h"

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>
// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

constexpr size_t kPiece = 4096;

void read_into(std::string& bytes, int descriptor) {
  struct stat info {};
  REQUIRE(::fstat(descriptor, &info) == 0);
  bytes.resize(static_cast<size_t>(info.st_size));
  REQUIRE(::pread(descriptor, bytes.data(), bytes.size(), 0) == info.st_size);
}

/// Only the pieces that differ are written: most of a segment does not.
void put_file(const std::string& path, mode_t mode, const std::string& bytes) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode);
  REQUIRE(file >= 0);
  static std::string now;  // kept: a fresh one costs more than the reading
  read_into(now, file);
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const size_t size = std::min(kPiece, bytes.size() - at);
    const bool same = at + size <= now.size() && std::memcmp(&bytes[at], &now[at], size) == 0;
    if (!same)
      REQUIRE(::pwrite(file, &bytes[at], size, static_cast<off_t>(at)) == static_cast<ssize_t>(size));
  }
  if (now.size() > bytes.size()) REQUIRE(::ftruncate(file, static_cast<off_t>(bytes.size())) == 0);
  ::close(file);
}

std::vector<std::string> paths_below(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& item : std::filesystem::recursive_directory_iterator(directory)) {
    paths.push_back(item.path().string().substr(directory.size() + 1));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

Moment Moment::of(const std::string& directory) {
  Moment moment;
  moment.directory_ = directory;
  for (const std::string& path : paths_below(directory)) {
    const std::string whole = directory + "/" + path;
    const int file = ::open(whole.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    REQUIRE(file >= 0);
    struct stat info {};
    REQUIRE(::fstat(file, &info) == 0);
    Item& item = moment.items_[path];
    item.mode = info.st_mode;
    if (S_ISREG(info.st_mode)) read_into(item.bytes, file);
    ::close(file);
  }
  return moment;
}

void Moment::put_back() const {
  for (const std::string& path : paths_below(directory_)) {
    if (items_.count(path) == 0) std::filesystem::remove_all(directory_ + "/" + path);
  }
  for (const auto& [path, item] : items_) {
    const std::string whole = directory_ + "/" + path;
    if (S_ISDIR(item.mode)) {
      if (::mkdir(whole.c_str(), item.mode & 07777) != 0) REQUIRE(errno == EEXIST);
    } else {
      put_file(whole, item.mode & 07777, item.bytes);
    }
  }
}

}  // namespace fq::test
