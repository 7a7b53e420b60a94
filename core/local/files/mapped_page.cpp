#include "core/local/files/mapped_page.h"

// System.
#include <sys/mman.h>

#include <cerrno>

namespace fq {

Result<MappedPage> MappedPage::map(File& file, const std::string& object) {
  FQ_TRY_SET(const uint64_t size, file.size());
  if (size < kBytes) FQ_TRY(file.allocate(0, kBytes));
  void* const base = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (base == MAP_FAILED) return sys_error("map", object, errno);
  return MappedPage(base);
}

MappedPage::~MappedPage() {
  if (base_ != nullptr) ::munmap(base_, kBytes);
}

}  // namespace fq
