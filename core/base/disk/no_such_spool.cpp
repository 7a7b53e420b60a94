#include "core/base/disk/no_such_spool.h"

// System.
#include <sys/stat.h>

#include <cerrno>
// fq, below us.
#include "core/base/text/escape.h"

namespace fq {

Error no_such_spool(const std::string& spool) {
  const std::string object = "spool " + in_quotes(spool) + ": ";
  struct stat about {};
  if (::lstat(spool.c_str(), &about) != 0)
    return Error{ErrorKind::missing, object + "there is none; the first push makes it", ENOENT};
  return Error{ErrorKind::unusable,
               object + "is a link to what is not there; make that, or set FQ_SPOOL to another place",
               ENOENT};
}

}  // namespace fq
