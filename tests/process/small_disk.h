// small_disk - a file system of a few MB that can be filled to its last byte, or to its last inode.
//
// A tmpfs, so it needs root: mounted() is false where that is not permitted. What fills it lies beside the
// spool and can be taken away again.
#pragma once

// System.
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

class SmallDisk {
 public:
  /// `limits` as mount takes them: "size=4m", "size=16m,nr_inodes=40".
  SmallDisk(const Spool& beside, const std::string& limits) : path_(beside.directory() + "/disk") {
    std::filesystem::create_directory(path_);
    if (!is_root()) return;
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", MS_NOSUID, ("mode=0700," + limits).c_str()) == 0;
    if (!mounted_) return;
    // Made while there is an inode for it.
    ballast_ = ::open((path_ + "/ballast").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(ballast_ >= 0);
  }
  ~SmallDisk() {
    if (ballast_ >= 0) ::close(ballast_);
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }

  /// Leaves so many bytes and no more; by default not one.
  void fill(uint64_t left = 0) {
    const uint64_t free = free_bytes();
    struct stat ballast {};
    REQUIRE(::fstat(ballast_, &ballast) == 0);
    if (free > left)
      REQUIRE(::fallocate(ballast_, 0, ballast.st_size, static_cast<off_t>(free - left)) == 0);
    else
      REQUIRE(::ftruncate(ballast_, std::max<off_t>(0, ballast.st_size - static_cast<off_t>(left - free))) ==
              0);
  }
  /// Beside others that take and give room meanwhile.
  void fill_about(uint64_t left) const {
    for (uint64_t all = free_bytes();
         all > left && ::fallocate(ballast_, 0, 0, static_cast<off_t>(all - left)) != 0;)
      all = all * 15 / 16;
  }
  void resize(const std::string& limits) const {
    REQUIRE(::mount(nullptr, path_.c_str(), nullptr, MS_REMOUNT | MS_NOSUID, limits.c_str()) == 0);
  }
  void make_room() const { REQUIRE(::ftruncate(ballast_, 0) == 0); }
  uint64_t free_bytes() const {
    struct statvfs about {};
    REQUIRE(::statvfs(path_.c_str(), &about) == 0);
    return about.f_bavail * about.f_frsize;
  }
  /// Leaves no inode.
  void take_inodes() {
    for (;;) {
      const std::string name = path_ + "/taken" + std::to_string(inodes_taken_);
      const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (made < 0) return;
      ::close(made);
      ++inodes_taken_;
    }
  }
  void give_inodes() {
    while (inodes_taken_ > 0) std::filesystem::remove(path_ + "/taken" + std::to_string(--inodes_taken_));
  }

 private:
  std::string path_;
  bool mounted_ = false;
  int ballast_ = -1;
  int inodes_taken_ = 0;
};

}  // namespace fq::test
