// fault_point - named places where a test build can be killed, stopped or made to fail.
//
// FQ_POINT("flush.written") does nothing in a release build. In a test build the environment decides:
//   FQ_KILL_AT=flush.written:3   the process kills itself with SIGKILL at the third pass
//   FQ_STOP_AT=flush.written:1   it stops itself with SIGSTOP there
#pragma once

#ifdef FQ_FAULT_POINTS
namespace fq {
void fault_point(const char* name);
}
#define FQ_POINT(name) ::fq::fault_point(name)
#else
#define FQ_POINT(name) static_cast<void>(0)
#endif
