// not_on_a_server - the tests of the contract that an engine on a server does not pass yet: it only shrinks.
#pragma once

// System.
#include <string_view>

namespace fq::test {

inline constexpr std::string_view kNotOnAServer[] = {
    // after_test.cpp
    "a thousand that died with one message are held behind it again by its kick",
    // command_attempts_test.cpp
    "a command that failed is not run again, beside a message that is",
    "attempts that were set hold for commands too, also where they are the standard ones",
    "a command that was cut off has not failed; the fifth crash buries",
    // edit_test.cpp
    "an edited message keeps its id and takes the place that its new priority gives",
    "an edited sort key moves its message, and may be taken back",
    "the tenant of an edited message keeps its turn",
    "a delay makes a ready message delayed, and none a delayed one ready",
    "a time of day makes it due then, and a past one now",
    "what comes back from a retry may be put off, and keeps its attempts",
    "a delay of a held message begins with its release, a time of day stays one",
    "a held message that was edited is let go or buried as any other",
    "a dead message is edited where it lies, and kicked as it is then",
    "one whose last attempt failed was buried before it was edited",
    "a time to live may be given, made longer, and taken back",
    "attempts, limits, tags and command of an edited message are the new ones",
    "a message that runs, has ended or never was is not edited",
    "a patch of nothing changes nothing, and one that no push would take is refused",
    "a unique key stays with an edited message",
    "what is debounced is debounced no more once it is made ready",
    "a payload that grows needs room under the limits, and so does none that shrinks",
    "a long payload takes the place of a short one, and the other way round",
    "the log tells an edit, of the tenant and the tags that the message has then",
    // end_test.cpp
    "an output is kept with an ack and with a bury, and no longer than asked",
    "an empty output is one, and a message without one has none",
    "a later output of the same message takes the place of the earlier one",
    // ended_test.cpp
    "a command message that was acked is told with all but its payload and its variables",
    "by default commands are told of for a week, others not at all",
    "retention says how long, none that it is not, and a push knows better",
    "what was cancelled is told too, whoever cancelled it, and a dead one from the queue until then",
    "pages of what has ended take tenants, tags and states",
    "a verdict that does not hold notes nothing that is told",
    "a replaced message is told as it is now",
    "outputs of any length are kept as long as their messages are told of",
    "the dead are told among what has ended, who died last first",
    "a dead message tells of its last run, one that runs since when",
    // events_test.cpp
    "events of one tag are those of all messages that have it",
    // explain_test.cpp
    "what waits for its turn only has a place",
    "each thing that is in the way is told, and none of them alone is enough",
    "the time that is told is the time at which it is served",
    "what is delayed, held or dead says so, and what keeps its tenant as well",
    "a message that never was is not explained",
    "what is told to come next is what is served next",
    // fair_by_test.cpp
    "by bytes, long payloads have as many bytes as short ones",
    "by time, long runs have as much time as short ones",
    "by time, whatever ends a run pays for it, and who measures it better is believed",
    "by time, a lease that runs out is paid",
    "another cost holds at once, for what is queued, and evens out what was ahead",
    // group_test.cpp
    "without linger a group is all that one tenant has, not of those below it",
    "groups are whole until enough messages are reached or passed",
    "a group has at most as many as the queue's batch, or as are asked for",
    "a group of thousands is taken whole",
    "what gathers is served when its oldest has waited, to everybody",
    "waiting ends when a group has gathered",
    "a batch that is full waits for nothing",
    "what comes while a group is out, and what comes back, is of the next group",
    "linger that changes holds at once for what is queued",
    "a group is cut by a limit of its tenant, or by bytes, and the rest gathers anew",
    "a group takes only of the tenant that is asked for, and of those below it",
    "each message of a group costs its tenant a turn",
    "two who take groups at once share none",
    // job_test.cpp
    "what a push says of its job comes with each delivery",
    "a group takes of nobody else, and not of those below it",
    "who waits until the queue is idle is told when it is",
    "a watched lease that another cancels or settles is told as ended, once",
    "a watched lease that another extends is told with its new end",
    "one's own verdict is no news",
    "news of a lease wakes who waits for something else",
    "a worker is seen by others, with what it works on; who only looks is not",
    "a worker is seen before it has taken anything",
    // lease_test.cpp
    "a lease held by the process does not end by time",
    "extending a lease that the process holds gives it no time",
    // limits_test.cpp
    "no more of a tenant runs at once than its concurrency, of it and all below it",
    "a queue's own concurrency holds for all tenants together",
    "a tenant starts no more often than its rate, after its burst",
    "tenants in one pool run no more at once than it allows, and no slot is lost",
    "a paused tenant or queue takes pushes and serves nothing",
    // look_test.cpp
    "kick by filter goes page by page to the end",
    "cancel by filter takes one state where that is named, else every one",
    "cancel by tag takes those that bear it",
    "rates are over the last minutes, idle time included",
    "a tenant's row counts its own messages",
    "check finds nothing in a queue that was only used",
    "what failed is found by a part of the reason, what expired too",
    "ids are selected in pages by all of a filter, and none twice",
    // order_test.cpp
    "one order for the whole queue: the highest priority of all goes first, and equals take turns",
    "one order for the whole queue: the smallest key of all goes first",
    "one order for the whole queue goes with fifo as if it were not there",
    // pages_test.cpp
    "peek shows the order of serving, however far",
    "peek shows what has no turns behind all others, by tenant, however much that is",
    "what is there all along is shown once, whatever comes and goes between two pages",
    "cancel by filter goes on from a cursor that another process gave",
    // random_history_test.cpp
    "random histories end as in the model",
    // tenant_test.cpp
    "a limited tenant and all below it have no turns until the limit is over",
    "a limit is replaced by the next one and taken back by none",
    "a limit may come before the tenant's first message, and outlives its last",
    "what is leased when its tenant is limited goes on, and what comes back waits",
    "peek shows what is limited, behind all others",
    // ttl_test.cpp
    "a message that is not started in time is dead, expired and not buried",
    // unique_test.cpp
    "in a batch behind what runs one message is held, whoever keeps what runs comes before",
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
