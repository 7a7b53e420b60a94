// doctor - see the header. This file looks at the place; core/local/care/doctor_system.cpp at the machine.
#include "core/local/care/doctor.h"

// System.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/process_state.h"
#include "core/base/text/counted.h"
#include "core/base/text/size.h"
// fq, this room.
#include "core/local/files/lock_file.h"
#include "core/local/files/process_info.h"
#include "core/local/files/queue_directory.h"
#include "core/local/files/jobs/running_jobs.h"

namespace fq {

namespace {

constexpr unsigned long kTmpfs = 0x01021994;
constexpr unsigned long kRamfs = 0x858458f6;
constexpr unsigned long kFuse = 0x65735546;               // need not tell its blocks
constexpr uint64_t kRoomWantedBytes = 256 * 1024 * 1024;  // chosen: a few of the largest journal files
constexpr uint64_t kInodesWanted = 1000;

struct Mount {
  std::string point;
  std::string kind;
  std::string options;  // of the mount and of the file system
};

/// "\\040" is a blank.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain.push_back(static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8)));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

bool lies_below(const std::string& path, const std::string& point) {
  if (point == "/") return true;
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

/// What is said of the mount, and of its file system what that has not said.
std::string joined_options(std::string all, const std::string& more) {
  std::istringstream each(more);
  for (std::string option; std::getline(each, option, ',');) {
    if (("," + all + ",").find("," + option + ",") == std::string::npos) all += "," + option;
  }
  return all;
}

/// The last one whose point is nearest above the path, as /proc tells.
Mount mount_of(const std::string& path) {
  Mount nearest;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string skipped, point, options, word, kind, source, more;
    words >> skipped >> skipped >> skipped >> skipped >> point >> options;
    while (words >> word && word != "-") {
    }
    words >> kind >> source >> more;
    point = unescaped(point);
    if (lies_below(path, point) && point.size() >= nearest.point.size())
      nearest = {point, kind, joined_options(options, more)};
  }
  return nearest;
}

bool has_option(const Mount& mount, const std::string& option) {
  return ("," + mount.options + ",").find("," + option + ",") != std::string::npos;
}

std::string existing_part(const std::string& spool) {
  std::string path = spool.starts_with('/') ? spool : "./" + spool;
  struct stat about {};
  while (path.size() > 1 && ::stat(path.c_str(), &about) != 0) {
    const size_t slash = path.find_last_of('/');
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

void examine_mount(const std::string& path, std::vector<DoctorRow>& rows) {
  struct statfs about {};
  if (::statfs(path.c_str(), &about) != 0) {
    add_row(rows, "file system", "cannot be asked for", Health::fault, "look at " + path);
    return;
  }
  const auto magic = static_cast<unsigned long>(about.f_type) & 0xffffffffUL;
  const Mount mount = mount_of(path);
  const std::string found = (mount.kind.empty() ? "unknown" : mount.kind) + " on " + mount.point;
  if (!refused_file_system(magic).empty()) {
    add_row(rows, "file system", found, Health::fault,
            "fq needs a local file system; set FQ_SPOOL to a directory on one");
  } else if (magic == kTmpfs || magic == kRamfs) {
    add_row(rows, "file system", found, Health::warning,
            "it is in memory: nothing survives a power cut; set FQ_SPOOL to a directory on a disk");
  } else if (about.f_blocks == 0 && magic != kFuse) {
    // /proc, /sys and their like: what is there is made by the kernel.
    add_row(rows, "file system", found, Health::fault,
            "it holds no ordinary files; set FQ_SPOOL to a directory on a disk");
  } else {
    add_row(rows, "file system", found);
  }
  if (has_option(mount, "ro")) {
    add_row(rows, "mount options", mount.options, Health::fault, "it is read-only; mount it writable");
  } else if (has_option(mount, "volatile")) {
    add_row(rows, "mount options", mount.options, Health::warning,
            "a volatile overlay drops every sync: accepted messages are not durable there");
  } else if (has_option(mount, "nobarrier") || has_option(mount, "barrier=0")) {
    add_row(rows, "mount options", mount.options, Health::warning,
            "without barriers a power cut may lose what was synced; mount it with them");
  } else {
    add_row(rows, "mount options", mount.options);
  }
}

/// What the disk says of itself; that it keeps its word nobody can see from here.
void examine_disk(const std::string& path, std::vector<DoctorRow>& rows) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return;
  const std::string device = std::to_string(major(about.st_dev)) + ":" + std::to_string(minor(about.st_dev));
  for (const char* queue : {"/queue/write_cache", "/../queue/write_cache"}) {
    std::ifstream file("/sys/dev/block/" + device + queue);
    std::string cache;
    if (!std::getline(file, cache)) continue;
    add_row(rows, "disk cache",
            cache == "write back" ? "write back: durable if the disk obeys flushes" : cache);
    return;
  }
}

void examine_room(const std::string& path, std::vector<DoctorRow>& rows) {
  struct statvfs about {};
  if (::statvfs(path.c_str(), &about) != 0) return;
  const uint64_t bytes = uint64_t{about.f_bavail} * about.f_frsize;
  const bool tight = bytes < kRoomWantedBytes;
  add_row(rows, "room", format_size(bytes) + " free", tight ? Health::warning : Health::ok,
          tight ? "pushes are refused when it is full; make room" : "");
  const bool few = about.f_files != 0 && about.f_favail < kInodesWanted;
  if (about.f_files != 0)
    add_row(rows, "inodes", std::to_string(about.f_favail) + " free", few ? Health::warning : Health::ok,
            few ? "a new queue needs some ten; make room" : "");
}

size_t count_in(const std::string& path) {
  DIR* listing = ::opendir(path.c_str());
  if (listing == nullptr) return 0;
  size_t count = 0;
  while (const dirent* item = ::readdir(listing)) count += item->d_name[0] == '.' ? 0 : 1;
  ::closedir(listing);
  return count;
}

/// Processes that keep messages by a job's descriptor, without those that are attached.
std::vector<int> jobs_of(Disk& disk, const std::vector<int>& attached) {
  std::vector<int> pids;
  const Result<RunningJobs> jobs = RunningJobs::open(disk);
  if (!jobs.ok()) return pids;
  for (const OfdLock& lock : jobs->processes()) {
    const bool worker = std::find(attached.begin(), attached.end(), lock.pid) != attached.end();
    if (!worker && (pids.empty() || pids.back() != lock.pid)) pids.push_back(lock.pid);
  }
  return pids;
}

/// What its user has to be let do with a part of a place, or else what follows.
struct Right {
  std::string path;
  int asked = R_OK | W_OK | X_OK;
  Health without = Health::fault;
  std::string advice = "correct its owner and permissions";
};

bool is_given(const Right& right) {
  struct stat about {};
  const bool there = ::stat(right.path.c_str(), &about) == 0;
  if (!there) return errno != EACCES;
  const int asked = S_ISDIR(about.st_mode) ? right.asked : right.asked & ~X_OK;
  return ::faccessat(AT_FDCWD, right.path.c_str(), asked, AT_EACCESS) == 0 || errno == EROFS;
}

/// True: a row says which of them is the first that is not given.
bool is_closed(const std::string& about, const std::vector<Right>& rights, std::vector<DoctorRow>& rows) {
  const auto missing = std::find_if_not(rights.begin(), rights.end(), is_given);
  if (missing == rights.end()) return false;
  add_row(rows, about, "you may not read and write " + missing->path, missing->without, missing->advice);
  return true;
}

/// An error about `object`, with the cure that stands behind it, or `advice`.
void add_unfit(const std::string& about, const Error& error, std::string_view object, Health health,
               const std::string& advice, std::vector<DoctorRow>& rows) {
  const size_t begin = error.text.starts_with(object) ? object.size() : 0;
  const size_t cure = error.text.find("; ");
  add_row(rows, about, error.text.substr(begin, cure == std::string::npos ? cure : cure - begin), health,
          cure == std::string::npos ? advice : error.text.substr(cure + 2));
}

/// What every command opens, or will: a push goes on without a next journal file for as long as this one has
/// room.
std::vector<Right> rights_of_queue(const std::string& place) {
  std::vector<Right> rights{{place}, {place + "/lock"}, {place + "/segment"}};
  for (const char* name : kQueueDirectories) rights.push_back({place + "/" + name});
  return rights;
}

void examine_queue(const std::string& spool, const std::string& name, std::vector<DoctorRow>& rows) {
  const std::string about = "queue " + name;
  const Result<std::unique_ptr<Disk>> disk = open_queue_directory(spool, name);
  if (!disk.ok()) {
    add_unfit(about, disk.error(), queue_object(name) + ": ", Health::fault, "fq cannot use it as it is",
              rows);
    return;
  }
  if (is_closed(about, rights_of_queue(spool + "/queues/" + name), rows)) return;
  Result<LockFile> lock = LockFile::open(**disk, "lock", false);
  std::vector<int> attached;
  if (lock.ok()) attached = lock->holders();
  std::vector<int> stopped;
  for (const int pid : attached) {
    if (is_stopped(pid)) stopped.push_back(pid);
  }
  const std::string found =
      attached.empty() ? "nobody is attached" : "attached: process " + join_pids(attached);
  add_row(rows, about, found, stopped.empty() ? Health::ok : Health::warning,
          stopped.empty() ? "" : "process " + join_pids(stopped) + " is stopped; continue or end it");
  const std::vector<int> jobs = jobs_of(**disk, attached);
  if (!jobs.empty())
    add_row(rows, about, "jobs, or what they left behind: process " + join_pids(jobs),
            attached.empty() ? Health::warning : Health::ok,
            attached.empty() ? "there is no worker; the messages of a dead one wait until these end" : "");
  const size_t damaged = count_in(spool + "/queues/" + name + "/damaged");
  if (damaged != 0)
    add_row(rows, about, counted(damaged, "piece of damage", "pieces of damage") + " in damaged/",
            Health::warning, "run fq check -q " + name + "; remove what is there when you have looked");
}

/// `for_new`: what it is that no queue can be made.
void add_unfit_spool(const Error& error, Health for_new, std::vector<DoctorRow>& rows) {
  add_unfit("spool", error, "spool ", for_new, "correct its owner and permissions, or set FQ_SPOOL", rows);
  if (for_new == Health::warning) rows.back().advice += "; until then no queue can be made";
}

/// Of a spool that is there. Its queues go on in much in which no new one is made.
void examine_spool(const std::string& spool, bool has_queues, std::vector<DoctorRow>& rows) {
  const Health for_new = has_queues && check_above(spool).ok() ? Health::warning : Health::fault;
  if (const Result<void> fit = check_spool(spool); !fit.ok())
    return add_unfit_spool(fit.error(), for_new, rows);
  const std::string queues = spool + "/queues";
  const std::string parent = ::access(queues.c_str(), F_OK) == 0 ? queues : spool;
  const std::string advice = "correct its owner and permissions";
  const std::vector<Right> rights = {
      {spool, X_OK},
      {queues, X_OK},
      {parent, W_OK, for_new, advice + "; until then no queue can be made or removed"},
      {spool, W_OK, Health::warning, advice + "; until then there can be no new fq.toml"},
  };
  if (!is_closed("spool", rights, rows)) add_row(rows, "spool", spool);
}

/// Of a spool that is not there yet: whether a push could make it in what is there.
void examine_parent(const std::string& spool, const std::string& path, std::vector<DoctorRow>& rows) {
  struct stat about {};
  const bool directory = ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
  if (!directory) {
    add_row(rows, "spool", spool + ": cannot be made, " + path + " is not a directory", Health::fault,
            "set FQ_SPOOL to another place");
  } else if (::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) != 0 && errno != EROFS) {
    add_row(rows, "spool", spool + ": cannot be made, you may not write to " + path, Health::fault,
            "change its permissions, or set FQ_SPOOL");
  } else if (const Result<void> fit = check_spool(spool); !fit.ok()) {
    add_unfit_spool(fit.error(), Health::fault, rows);
  } else {
    add_row(rows, "spool", spool + ": there is none yet; the first push makes it");
  }
}

}  // namespace

void examine_place(const std::string& spool, const std::optional<std::string>& queue,
                   std::vector<DoctorRow>& rows) {
  struct stat about {};
  const bool there = ::stat(spool.c_str(), &about) == 0;
  const std::string path = existing_part(spool);
  const Result<std::vector<std::string>> names = list_queue_directories(spool);
  if (!there) examine_parent(spool, path, rows);
  if (there) examine_spool(spool, names.ok() && !names->empty(), rows);
  examine_mount(path, rows);
  examine_disk(path, rows);
  examine_room(path, rows);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!queue || *queue == name) examine_queue(spool, name, rows);
  }
}

}  // namespace fq
