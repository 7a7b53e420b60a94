// not_on_a_server - the tests of the contract that an engine on a server does not pass yet: it only shrinks.
#pragma once

// System.
#include <string_view>

namespace fq::test {

inline constexpr std::string_view kNotOnAServer[] = {
    // edit_test.cpp
    "a payload that grows needs room under the limits, and so does none that shrinks",
    // explain_test.cpp
    "what waits for its turn only has a place",
    "each thing that is in the way is told, and none of them alone is enough",
    "the time that is told is the time at which it is served",
    "what is delayed, held or dead says so, and what keeps its tenant as well",
    "a message that never was is not explained",
    "what is told to come next is what is served next",
    // order_test.cpp
    "one order for the whole queue: the highest priority of all goes first, and equals take turns",
    "one order for the whole queue: the smallest key of all goes first",
    "one order for the whole queue goes with fifo as if it were not there",
    // pages_test.cpp
    "peek shows the order of serving, however far",
    "what is there all along is shown once, whatever comes and goes between two pages",
    // random_history_test.cpp
    "random histories end as in the model",
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
