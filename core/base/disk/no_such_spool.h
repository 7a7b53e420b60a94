// no_such_spool - that there is no spool in a place, as every command says it.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/base/error.h"

namespace fq {

/// ErrorKind::unusable where the place is a link to what is not there, so that no push can make a spool of
/// it.
Error no_such_spool(const std::string& spool);

}  // namespace fq
