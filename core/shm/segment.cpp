#include "core/shm/segment.h"

// System.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <map>
#include <mutex>
#include <tuple>

namespace fq {

namespace bip = boost::interprocess;

namespace {

Error no_room(std::string_view object) {
  std::string text(object);
  text.append(": the address space limit is too low to map the segment; raise it (ulimit -v unlimited)");
  return Error{ErrorKind::later, std::move(text), ENOMEM};
}

/// What bip::mapped_region needs to know of a file that we opened ourselves: its own file_mapping would
/// open the name once more, following symlinks.
class OpenedMapping {
 public:
  explicit OpenedMapping(int descriptor) : descriptor_(descriptor) {}
  bip::mapping_handle_t get_mapping_handle() const {
    return bip::ipcdetail::mapping_handle_from_file_handle(descriptor_);
  }
  bip::mode_t get_mode() const { return bip::read_write; }

 private:
  int descriptor_;
};

#ifdef __SANITIZE_THREAD__
/// The thread sanitizer knows memory by its address: what the queues of several threads do to one segment it
/// sees only where all have it at the same one.
template <class Make>
std::shared_ptr<bip::mapped_region> shared_in_process(const OpenedMapping& mapping, Make make) {
  static std::mutex lock;
  // By process too: a forked child has this map, but not the mappings.
  static std::map<std::tuple<pid_t, dev_t, ino_t>, std::weak_ptr<bip::mapped_region>> regions;
  struct stat status {};
  ::fstat(mapping.get_mapping_handle().handle, &status);
  const std::scoped_lock locked(lock);
  std::weak_ptr<bip::mapped_region>& known = regions[{::getpid(), status.st_dev, status.st_ino}];
  std::shared_ptr<bip::mapped_region> region = known.lock();
  if (region == nullptr) known = region = make();
  return region;
}
#else
template <class Make>
std::shared_ptr<bip::mapped_region> shared_in_process(const OpenedMapping&, Make make) {
  return make();
}
#endif

class MappedSegment final : public SegmentMemory {
 public:
  MappedSegment(std::unique_ptr<File> file, std::string_view object) : file_(std::move(file)) {
    const OpenedMapping mapping(file_->descriptor());
    try {
      region_ = map(mapping);
      base_ = static_cast<std::byte*>(region_->get_address());
    } catch (const bip::interprocess_exception& fault) {
      const int sys = fault.get_native_error();
      error_ = sys == ENOMEM ? no_room(object) : sys_error("map", object, sys);
    }
  }

  Result<void> extend_to(uint64_t bytes) override {
    FQ_TRY_SET(const uint64_t size, file_->size());
    if (bytes <= size) return {};
    return file_->allocate(size, bytes - size);
  }

  void keep_from_children() override { ::madvise(base_, kSegmentMapBytes, MADV_DONTFORK); }

  const Error& error() const { return error_; }

 private:
  using Region = std::shared_ptr<bip::mapped_region>;

  static Region map(const OpenedMapping& mapping) {
    return shared_in_process(mapping, [&] {
      return std::make_shared<bip::mapped_region>(mapping, bip::read_write, 0, kSegmentMapBytes, nullptr,
                                                  MAP_NORESERVE);
    });
  }

  std::unique_ptr<File> file_;
  Region region_;
  Error error_;
};

class PrivateSegment final : public SegmentMemory {
 public:
  PrivateSegment() {
    void* at = ::mmap(nullptr, kSegmentMapBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) base_ = static_cast<std::byte*>(at);
  }
  ~PrivateSegment() override {
    if (base_ != nullptr) ::munmap(base_, kSegmentMapBytes);
  }
  Result<void> extend_to(uint64_t) override { return {}; }
  void keep_from_children() override {}
};

}  // namespace

void SegmentMemory::populate(uint64_t bytes, bool to_write) {
  ::madvise(base_, bytes, to_write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}

Result<std::unique_ptr<SegmentMemory>> map_segment(std::unique_ptr<File> file, std::string_view object) {
  auto segment = std::make_unique<MappedSegment>(std::move(file), object);
  if (segment->base() == nullptr) return segment->error();
  return std::unique_ptr<SegmentMemory>(std::move(segment));
}

Result<std::unique_ptr<SegmentMemory>> private_segment() {
  auto segment = std::make_unique<PrivateSegment>();
  if (segment->base() == nullptr) return no_room("check");
  return std::unique_ptr<SegmentMemory>(std::move(segment));
}

}  // namespace fq
