// loop_disk - an ext4 file system of its own, in a file, whose power can be cut.
//
// cut_power() is FS_IOC_SHUTDOWN: from then on nothing reaches the disk, and what only lay in the page cache
// is lost with the next mount. The mount lives in a mount namespace of this process and is gone with it, as
// is the boot_id that new_boot() puts over the kernel's: whoever starts afterwards is past a reboot.
#pragma once

// System.
#include <cstdint>
#include <string>

namespace fq::test {

enum class Cut {
  everything_flushed = 0,  // as after sync(2)
  log_flushed = 1,         // the file system's journal gets out, file contents do not
  nothing_flushed = 2,
};

class LoopDisk {
 public:
  /// `options` are ext4's ("data=ordered").
  explicit LoopDisk(std::string options);
  LoopDisk(const LoopDisk&) = delete;
  ~LoopDisk();

  /// Why there can be none here; empty where it can.
  static std::string obstacle();

  const std::string& path() const { return path_; }
  void cut_power(Cut how);
  /// Needs: nobody uses the disk any more.
  void power_on();

 private:
  void mount_image();
  void new_boot();

  std::string options_;
  std::string directory_;
  std::string path_;
  uint64_t boots_ = 0;
};

}  // namespace fq::test
