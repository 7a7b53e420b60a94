// own_user - the user that runs us, as the kernel told when it started us.
//
// fq never changes its user, so the files of a process belong to one and the same all along.
#pragma once

// System.
#include <sys/auxv.h>
#include <sys/types.h>

namespace fq {

inline uid_t own_user() { return static_cast<uid_t>(::getauxval(AT_EUID)); }

}  // namespace fq
