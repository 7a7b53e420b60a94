// session - the place where a command works: its spool, its queue, its output format; and the queue opened
// with the policy that holds now.
//
// Precedence: default < environment < option. A privileged process (AT_SECURE) does not listen to the
// environment.
#pragma once

// System.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/result.h"
// fq, this room.
#include "cli/words/arguments.h"
#include "cli/terminal/environment.h"
#include "cli/words/exit_code.h"
#include "cli/terminal/output.h"

namespace fq::cli {

enum class Format { human, json, sh, raw, prometheus };

class Session {
 public:
  /// `argv`: as main has it, for the program beside this one.
  explicit Session(char** argv) : argv_(argv) {}

  /// Resolves spool, queue and format from the options and the environment.
  Result<void> resolve(const Arguments& arguments);

  Output& out() { return out_; }
  Format format() const { return format_; }
  const std::string& spool() const { return location_.spool; }
  const std::string& queue_name() const { return location_.queue; }
  const Location& location() const { return location_; }
  void name_queue(std::string name) { location_.queue = std::move(name), queue_named_ = true; }
  bool queue_named() const { return queue_named_; }

  /// While fq.toml cannot be used a queue goes on with the last good one, which is said once a command; a
  /// queue that is yet to be made has none, and is not made. Unsaid: for commands that tell it themselves.
  enum class Policy { last_good, unsaid };
  /// The message about that; "": none.
  const std::string& policy_fault() const { return policy_fault_; }
  /// Where there is no such queue. A person who waits for messages is told that it was made: a name that was
  /// mistyped never has any.
  enum class Missing { is_refused, is_made, is_made_and_said };
  /// What a command asks of a queue: by its settings, and by whether it is there yet.
  using Demand = std::function<Result<void>(const Settings&, bool is_there)>;
  /// The command's one queue, until its process ends. `demand`: of one that is not there it is asked with the
  /// settings that it would have, and none is made where it fails; then of the queue itself.
  Result<std::unique_ptr<Queue>> open(Policy policy, Missing missing = Missing::is_refused,
                                      const Demand& demand = {});
  /// One of several, with the policy that holds now.
  Result<std::unique_ptr<Queue>> open(const Location& location, Policy policy,
                                      Missing missing = Missing::is_refused);
  /// All of the spool; ErrorKind::missing when there is no spool.
  Result<std::vector<std::string>> all_queues() const;
  /// The one that was named, else all of the spool.
  Result<std::vector<std::string>> queues();
  /// Parts of queues that did not answer since this was last asked.
  AwayList take_away() { return std::exchange(away_, {}); }
  void put_away(AwayList away) { away_ = std::move(away); }
  /// Of a queue that was not named and has a name alone: it hides nothing of the others, their exit included.
  bool is_only_listed(const Error& error) const;
  /// That it is so; "": it was removed meanwhile.
  std::string why_only_listed(const std::string& queue) const;
  /// Calls `look(name, queue)` for each of queues(). A queue that cannot be used is named and does not hide
  /// the others: the exit is that of the worst. Exit::nothing when there is none.
  Result<Exit> for_each_queue(const std::function<Result<Exit>(const std::string&, Queue&)>& look,
                              const OpenOptions& options = {});

 private:
  Result<std::unique_ptr<Queue>> open(const Location& location, Policy policy, Missing missing,
                                      OpenOptions options, const Demand& demand = {});
  Result<void> resolve_spool(const Arguments& arguments);
  Result<void> resolve_queue(const Arguments& arguments);
  Result<void> resolve_format(const Arguments& arguments);

  char** argv_;
  Location location_;
  bool queue_named_ = false;
  Format format_ = Format::human;
  std::string policy_fault_;
  AwayList away_;
  Output out_;
};

/// An error of one queue among others, whose text may be of a server or a file: with the queue's name.
Error of_queue(const std::string& queue, Error error);

/// To whom a spool is closed.
inline constexpr std::string_view kOfOneUser =
    "a spool belongs to one user, who alone can use it; set FQ_SPOOL to one of your own";
inline constexpr std::string_view kOneOfYourOwn = "set FQ_SPOOL to a place of your own";

/// Nothing says where the spool is; Session::spool() is empty then.
Error no_spool();

/// Those that a queue would have which is not there. ErrorKind::config: fq.toml cannot be used.
Result<Settings> settings_to_be(const Location& location);

/// Writes the notices of a queue, for a person, on standard error.
void say_notices(Queue& queue);

}  // namespace fq::cli
