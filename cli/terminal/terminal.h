// terminal - the whole screen for a live view, and the terminal as it was when that ends, however it ends.
//
// Keys come one by one and unechoed, the view has the alternate screen. A small child, made before anything
// else is held, waits for its parent's end: where that was killed, or died of a bug, the child gives the
// terminal back. Ctrl-C and Ctrl-Z stay the signals that they are. Lines on standard error meanwhile would
// tear the picture: they are kept and can be asked for.
#pragma once

// System.
#include <sys/types.h>
#include <termios.h>

#include <cstdint>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

class Terminal {
 public:
  /// Needs: standard input and output are a terminal, no queue is open.
  Result<void> begin();
  ~Terminal() { end(); }
  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  void end();

  /// One write, unless the terminal takes it in pieces.
  Result<void> draw(std::string_view frame);

  enum class Woken { time, keys, resized, ended };
  /// Until a key, `ms` are over, the window changed, or a signal asks for the end. Stops here when it is to
  /// stop.
  Woken wait(int64_t ms);
  /// The bytes that were typed.
  const std::string& typed() const { return typed_; }

  /// For another program: as it was before, standard error too, until taken back.
  void lend();
  void take_back();
  /// While it is lent: below what is there, until any key.
  Woken hold(std::string_view text);

  /// The last line that was said on standard error since the last call; "" for none.
  std::string last_said();

 private:
  Result<void> start_keeper();
  void read_keys_one_by_one();
  void enter();
  void leave();
  void stop();
  bool regain();

  bool begun_ = false;
  termios before_{};
  pid_t keeper_ = -1;
  int keeper_pipe_ = -1;
  int said_ = -1;    // the end from which standard error is read
  int saying_ = -1;  // the end that is standard error
  int stderr_ = -1;  // as it was
  std::string typed_;
};

}  // namespace fq::cli
