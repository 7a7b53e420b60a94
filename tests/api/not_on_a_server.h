// not_on_a_server - the tests of the contract that an engine on a server does not pass yet: it only shrinks.
#pragma once

// System.
#include <string_view>

namespace fq::test {

inline constexpr std::string_view kNotOnAServer[] = {
    // follow_test.cpp
    "what a job writes is read as it is written, until its message has ended",
    "who follows later begins at the beginning, and reads what is kept after the end",
    "of an output at the limit all is kept, of a longer one the first and the last half",
    "a long output is kept as a short one is",
    "a caller that does not read holds back its job, and one that reads lets it go on",
    "a caller that is dead, or was told that it is not waited for, holds back nobody",
    "a caller that does not follow any more holds back nobody",
    "a caller reads each run of its message, also those that are over",
    "a run that is over leaves nothing to who did not call",
    "who follows what ends without a job, or is not known, is told of the end",
    "a job that writes on after its message was cancelled is read until it is over",
    "who follows sleeps until something is written, or its time is over",
};

}  // namespace fq::test
