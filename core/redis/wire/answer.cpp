#include "core/redis/wire/answer.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"

namespace fq {

namespace {

constexpr std::string_view kWhenDone = "; try again when some are done";
constexpr std::string_view kNoRights = "does not let this user do it; fq-redis acl URL tells what it needs";
constexpr std::string_view kShort = "FQSHORT", kLong = "FQLONG";
constexpr std::string_view kQueue = "queue: ", kResume = "run fq queue resume";
constexpr std::string_view kLostKey = " has lost the key ";
constexpr std::string_view kMissing = " has no such queue any more; a push or fq queue create makes it";
constexpr std::string_view kAtOnce = " at once, the limit is ";
constexpr std::string_view kLoads = "is loading its data; try again";
constexpr std::string_view kIsBusy = "is busy with somebody's script; try again";

struct Meaning {
  std::string_view word;  // that the refusal begins with
  ErrorKind kind;
  std::string_view says;
};

constexpr std::string_view kTooMany = "ERR max number of clients";
constexpr std::string_view kNoCommand = "ERR unknown command";
constexpr std::string_view kInLibrary = "ERR user_function";  // a fault of it, or of what it has read

/// `later`: nothing was done.
constexpr Meaning kMeanings[] = {
    {"MOVED", ErrorKind::later, "has given its keys to another of its cluster; try again"},
    {"ASK", ErrorKind::later, "is moving its keys; try again"},
    {"TRYAGAIN", ErrorKind::later, "is moving its keys; try again"},
    {"CLUSTERDOWN", ErrorKind::later, "its cluster is down; try again"},
    {"MASTERDOWN", ErrorKind::later, "has lost its master; try again"},
    {"LOADING", ErrorKind::later, kLoads},
    {"READONLY", ErrorKind::later, "is a replica now; try again"},
    {"OOM", ErrorKind::later, "the server's memory is full; raise its maxmemory, or try when work is done"},
    {"NOREPLICAS", ErrorKind::later, "has fewer replicas than its min-replicas-to-write asks for; try again"},
    {"BUSY", ErrorKind::later, kIsBusy},
    {"MISCONF", ErrorKind::later, "cannot save its data and takes none; see its log"},
    {kTooMany, ErrorKind::later, "has as many clients as it takes; raise its maxclients, or try again"},
    {"NOAUTH", ErrorKind::denied,
     "wants a password; put it into a file and name that in FQ_REDIS_PASSWORD_FILE"},
    {"WRONGPASS", ErrorKind::denied, "does not know this user with this password"},
    {"NOPERM", ErrorKind::denied, kNoRights},
    {"ERR The user executing the script", ErrorKind::denied, kNoRights},
    {"ERR ACL failure in script", ErrorKind::denied, kNoRights},
    {"ERR AUTH", ErrorKind::config, "has no password for this user, and was given one"},
    {kNoCommand, ErrorKind::unusable, "has no such command, and fq needs it"},
    {"ERR DB index is out of range", ErrorKind::config, "has no database of this number"},
    {"WRONGTYPE", ErrorKind::unusable,
     "has something of another program under a key of fq's; use another prefix"},
    {kInLibrary, ErrorKind::unusable,
     "has something in this queue that cannot be read; see fq check --repair"},
    {"FQLEAVING", ErrorKind::later,
     "the message that this would replace is on its way to another queue; try again"},
    {"FQIDS", ErrorKind::unusable,
     "has given all ids that there are to messages of this queue; push to another one"},
    {"FQEVENTS", ErrorKind::bad_data,
     "has no time in milliseconds as 'events' among what is fixed of a shard of this queue"},
};

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() || text[word.size()] == ' ' || text[word.size()] == ':');
}

/// Takes the first word of a text out of it.
std::string first_word(std::string_view& text) {
  const std::string_view found = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), found.size() + 1));
  return std::string(found);
}

/// What of a limit is in the way: what, how much there is (or came), the limit, then whose it is ("": the
/// queue's).
Error full(std::string_view said, bool never_fits) {
  first_word(said);
  const std::string what = first_word(said), there = first_word(said), most = first_word(said);
  const std::string who = said.empty() ? "queue" : "tenant " + in_quotes(said);
  const std::string unit = what.substr(0, there == "1" ? what.size() - 1 : what.size());
  std::string text = who + (never_fits ? ": gets " : ": has ") + there + " " + unit;
  text.append(never_fits ? kAtOnce : ", the limit is ").append(most).append(" (max_" + what + ")");
  if (!never_fits) text += kWhenDone;
  return Error{ErrorKind::later, std::move(text), 0};
}

/// How long a payload is, and the limit.
Error too_long(std::string_view said) {
  first_word(said);
  const std::string bytes = first_word(said), most = first_word(said);
  return Error{ErrorKind::bad_data,
               "payload: has " + bytes + " bytes, the limit is " + most + " (max_payload)", 0};
}

/// What another is to come after, and which of the batch that is.
Error unknown_message(std::string_view said) {
  first_word(said);
  Error error{ErrorKind::missing,
              "message " + first_word(said) + ": not known (any more), so nothing can come after it", 0};
  if (const auto item = parse_decimal(said)) error.item = *item;
  return error;
}

/// Before anything was done.
Error lacks_right(const std::string& server, std::string_view said) {
  first_word(said);
  constexpr std::string_view kIt = "do it";
  std::string text(kNoRights);
  text.replace(text.find(kIt), kIt.size(), "run " + in_quotes(said));
  return Error{ErrorKind::denied, server + ": " + text, 0};
}

/// Of a queue that was opened, so that it was there.
Error is_missing(const std::string& server) {
  return Error{ErrorKind::missing, std::string(kQueue) + server + std::string(kMissing), 0};
}

/// The schema that the server has of it, and that which fq's functions know.
Error is_of_other_schema(const std::string& server, std::string_view said) {
  first_word(said);
  const size_t known_at = std::min(said.size(), said.rfind(' '));
  Error error = other_schema(said.substr(0, known_at), said.substr(std::min(said.size(), known_at + 1)));
  error.text.insert(0, server + ": what it keeps of this queue ");
  return error;
}

Error is_draining() {
  const std::string text = std::string(kQueue) + "is draining and takes no more; ";
  return Error{ErrorKind::later, text + std::string(kResume) + " to end that", 0};
}

}  // namespace

Error other_schema(std::string_view there, std::string_view known) {
  std::string text = "is of schema " + in_quotes(there) + ", and this fq-redis knows ";
  text.append(known).append("; use the fq that made it");
  return {ErrorKind::unusable, std::move(text), 0};
}

bool is_away(const Error& error) {
  return error.sys != EINTR && (error.kind == ErrorKind::later || error.kind == ErrorKind::io);
}

Error of_queue(Error error, const std::string& queue) {
  if (!error.text.starts_with(kQueue)) return error;
  error.text.replace(0, kQueue.size(), "queue " + in_quotes(queue) + ": ");
  if (const size_t at = error.text.find(kResume); at != std::string::npos)
    error.text.insert(at + kResume.size(), " " + queue);
  return error;
}

Error error_of_refusal(const std::string& server, std::string_view command, std::string_view refusal) {
  for (const std::string_view word : {"FQFULL", "FQNEVER"})
    if (begins_with_word(refusal, word)) return full(refusal, word == "FQNEVER");
  if (begins_with_word(refusal, kLong)) return too_long(refusal);
  if (begins_with_word(refusal, "FQUNKNOWN")) return unknown_message(refusal);
  if (begins_with_word(refusal, "FQDRAINING")) return is_draining();
  if (begins_with_word(refusal, "FQRIGHT")) return lacks_right(server, refusal);
  if (begins_with_word(refusal, "FQMISSING")) return is_missing(server);
  if (begins_with_word(refusal, "FQSCHEMA")) return is_of_other_schema(server, refusal);
  if (begins_with_word(refusal, kShort)) return Error{ErrorKind::later, std::string(refusal), 0};
  for (const Meaning& each : kMeanings) {
    if (!begins_with_word(refusal, each.word)) continue;
    std::string text = server + ": ";
    if (each.kind == ErrorKind::denied || each.word == kNoCommand) text.append(command).append(": ");
    text += each.says;
    // Where in the library, for whoever reports it.
    if (each.word == kInLibrary) text.append(" (").append(in_quotes(refusal)).append(")");
    return Error{each.kind, std::move(text), 0, each.kind == ErrorKind::later};
  }
  // A refusal may repeat what was asked, and a password is told to nobody.
  const std::string answer = command == "AUTH" ? "answers an error" : "answers " + in_quotes(refusal);
  return Error{ErrorKind::io, server + ": " + std::string(command) + ": " + answer, 0};
}

bool says_missing(const Error& error) {
  return error.kind == ErrorKind::missing && error.text.ends_with(kMissing);
}

Error lost_root(Error missing, const std::string& root, const std::string& queue) {
  missing.text.resize(missing.text.size() - kMissing.size());
  missing.text += std::string(kLostKey) + in_quotes(root) +
                  " or a part of it, without which it serves nothing of that shard; restore its data, or "
                  "give the queue up: "
                  "fq queue remove " +
                  queue;
  missing.kind = ErrorKind::unusable;
  return missing;
}

bool says_lost_root(const Error& error) {
  return error.kind == ErrorKind::unusable && error.text.find(kLostKey) != std::string::npos;
}

/// Behind the queue: see of_queue().
std::string server_of_lost_root(const Error& error) {
  const std::string_view text = std::string_view(error.text).substr(0, error.text.find(kLostKey));
  const size_t colon = text.find("': ");
  return std::string(colon == std::string_view::npos ? text : text.substr(colon + 3));
}

bool says_full(const Error& error) {
  return error.kind == ErrorKind::later && error.text.ends_with(kWhenDone);
}

bool says_never_fits(const Error& error) {
  return error.kind == ErrorKind::later && error.text.find(kAtOnce) != std::string::npos;
}

bool says_occupied(const Error& error) {
  return error.kind == ErrorKind::later && (error.text.ends_with(kLoads) || error.text.ends_with(kIsBusy));
}

// What a double counts without a gap.
constexpr uint64_t kCountMax = uint64_t{1} << 53;

std::optional<Lack> lack_in(const Error& error) {
  if (error.kind != ErrorKind::later || !begins_with_word(error.text, kShort)) return std::nullopt;
  std::string_view said = error.text;
  first_word(said);
  Lack lack;
  lack.what = first_word(said);
  for (double* const each : {&lack.lacks, &lack.came, &lack.most}) {
    const std::optional<uint64_t> number = parse_decimal(first_word(said));
    if (!number || *number > kCountMax) return std::nullopt;
    *each = static_cast<double>(*number);
  }
  return lack;
}

/// Some of it may have been lent to shards that do not answer, or to others just now.
Error full_over_shards(const Lack& lack, double there) {
  const auto number = [](double value) { return std::to_string(static_cast<uint64_t>(value)); };
  Error error = full("FQFULL " + lack.what + " " + number(there) + " " + number(lack.most), false);
  if (there + lack.came <= lack.most)
    error.text.insert(error.text.size() - kWhenDone.size(), ", of which shards have the rest");
  return error;
}

bool lacks_library(std::string_view refusal) { return refusal.starts_with("ERR Function not found"); }

}  // namespace fq
