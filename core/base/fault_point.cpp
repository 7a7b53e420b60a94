#include "core/base/fault_point.h"

#ifdef FQ_FAULT_POINTS

// System.
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace fq {

namespace {

/// One NAME:N of the environment, counted down as its place is passed.
struct Fault {
  std::string_view name;
  long passes_left = 0;

  explicit Fault(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr) return;
    const std::string_view text(value);
    const size_t colon = text.rfind(':');
    name = text.substr(0, colon);
    passes_left = colon == std::string_view::npos ? 1 : std::strtol(value + colon + 1, nullptr, 10);
  }

  bool is_here(std::string_view place) { return name == place && --passes_left == 0; }
};

}  // namespace

void fault_point(const char* name) {
  // Most processes of a test have none; a stepped one passes hundreds of points, an instruction at a time.
  static const bool armed = std::getenv("FQ_KILL_AT") != nullptr || std::getenv("FQ_STOP_AT") != nullptr;
  if (!armed) return;
  static Fault kill_fault("FQ_KILL_AT");
  static Fault stop_fault("FQ_STOP_AT");
  if (kill_fault.is_here(name)) std::raise(SIGKILL);
  if (stop_fault.is_here(name)) std::raise(SIGSTOP);
}

}  // namespace fq

#endif
