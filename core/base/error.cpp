#include "core/base/error.h"

// System.
#include <cerrno>
#include <cstring>

namespace fq {

namespace {

ErrorKind kind_of(int sys) {
  switch (sys) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorKind::later;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::denied;
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return ErrorKind::unusable;
    default:
      return ErrorKind::io;
  }
}

}  // namespace

void ErrorDeleter::operator()(Error* error) const noexcept { delete error; }

Error sys_error(std::string_view call, std::string_view object, int sys) {
  std::string text(object);
  text.append(": ").append(call).append(": ").append(std::strerror(sys));
  return Error{kind_of(sys), std::move(text), sys};
}

}  // namespace fq
