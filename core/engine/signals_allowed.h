// signals_allowed - signals that a waiting call lets through.
#pragma once

// System.
#include <signal.h>

namespace fq {

/// While we sleep no lock is held: signals may come, so that Ctrl-C works. A worker reads them itself.
class SignalsAllowed {
 public:
  explicit SignalsAllowed(bool allowed) {
    sigset_t asked;
    sigemptyset(&asked);
    if (allowed) {
      for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGALRM, SIGUSR1, SIGUSR2}) {
        sigaddset(&asked, signal);
      }
    }
    pthread_sigmask(SIG_UNBLOCK, &asked, &before_);
  }
  ~SignalsAllowed() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsAllowed(const SignalsAllowed&) = delete;
  SignalsAllowed& operator=(const SignalsAllowed&) = delete;

 private:
  sigset_t before_;
};

}  // namespace fq
