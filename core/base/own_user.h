// own_user - who runs us, asked of the kernel once.
//
// fq never changes its user, so the files of a process belong to one and the same all along.
#pragma once

// System.
#include <unistd.h>

namespace fq {

inline uid_t own_user() {
  static const uid_t user = ::geteuid();
  return user;
}

}  // namespace fq
