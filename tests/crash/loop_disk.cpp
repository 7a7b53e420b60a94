// loop_disk - see the header.
#include "tests/crash/loop_disk.h"

// System.
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

constexpr uint32_t kImageMegabytes = 64;
constexpr unsigned long kShutdown = _IOR('X', 125, uint32_t);  // FS_IOC_SHUTDOWN, of linux/fs.h from 6.10 on
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

class Opened {
 public:
  Opened(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    INFO(path << ": " << std::strerror(errno));
    REQUIRE(descriptor_ >= 0);
  }
  ~Opened() { ::close(descriptor_); }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Mounts below us are seen by nobody else and do not outlive us.
bool leave_mount_namespace() {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

std::string LoopDisk::obstacle() {
  if (!is_root()) return "it needs root";
  if (run({"/bin/sh", "-c", "command -v mkfs.ext4"}).exit != 0) return "there is no mkfs.ext4";
  if (::access("/dev/loop-control", W_OK) != 0) return "there are no loop devices";
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(leave_mount_namespace() ? 0 : 1);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0 ? std::string() : "nobody may mount here";
}

LoopDisk::LoopDisk(std::string options)
    : options_(std::move(options)), directory_(scratch_base() + "/fq-loop-XXXXXX") {
  static const bool alone = leave_mount_namespace();
  REQUIRE(alone);
  REQUIRE(::mkdtemp(directory_.data()) != nullptr);
  path_ = directory_ + "/disk";
  std::filesystem::create_directory(path_);
  const Opened image(directory_ + "/image", O_RDWR | O_CREAT);
  REQUIRE(::ftruncate(image.get(), off_t{kImageMegabytes} * 1024 * 1024) == 0);
  const Outcome made = run({"mkfs.ext4", "-q", "-F", directory_ + "/image"});
  INFO(made.err);
  REQUIRE(made.exit == 0);
  mount_image();
  std::ofstream(directory_ + "/boot_id") << std::string(36, '0') << "\n";
  REQUIRE(::mount((directory_ + "/boot_id").c_str(), kBootId, nullptr, MS_BIND, nullptr) == 0);
  new_boot();
}

LoopDisk::~LoopDisk() {
  ::umount2(kBootId, MNT_DETACH);
  ::umount2(path_.c_str(), MNT_DETACH);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void LoopDisk::mount_image() {
  // A loop device anew each time: what the last one still had in its cache was never written.
  const Opened control("/dev/loop-control", O_RDWR);
  const Opened image(directory_ + "/image", O_RDWR);
  loop_config config{};
  config.fd = static_cast<uint32_t>(image.get());
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  for (;;) {
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    REQUIRE(number >= 0);
    const std::string name = "/dev/loop" + std::to_string(number);
    // Where no udev runs nobody else makes the name.
    ::mknod(name.c_str(), S_IFBLK | 0600, makedev(7, unsigned(number)));
    const Opened device(name, O_RDWR);
    if (::ioctl(device.get(), LOOP_CONFIGURE, &config) != 0) {
      REQUIRE(errno == EBUSY);  // somebody else has just taken it
      continue;
    }
    INFO(name << " with " << options_ << ": " << std::strerror(errno));
    REQUIRE(::mount(name.c_str(), path_.c_str(), "ext4", 0, options_.c_str()) == 0);
    return;
  }
}

void LoopDisk::new_boot() {
  char id[40];
  std::snprintf(id, sizeof id, "00000000-0000-4000-8000-%012llx\n",
                static_cast<unsigned long long>(++boots_));
  const Opened file(directory_ + "/boot_id", O_WRONLY);
  REQUIRE(::pwrite(file.get(), id, std::strlen(id), 0) == ssize_t(std::strlen(id)));
}

void LoopDisk::cut_power(Cut how) {
  const Opened directory(path_, O_RDONLY | O_DIRECTORY);
  const auto flags = static_cast<uint32_t>(how);
  REQUIRE(::ioctl(directory.get(), kShutdown, &flags) == 0);
}

void LoopDisk::power_on() {
  INFO(path_ << ": " << std::strerror(errno));
  REQUIRE(::umount2(path_.c_str(), 0) == 0);
  mount_image();
  new_boot();
}

}  // namespace fq::test
