#include "core/worker/process/command_line.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/wall_time.h"

namespace fq::worker {

namespace {

// What the kernel takes as one word of argv (MAX_ARG_STRLEN), with its NUL.
constexpr size_t kWordBytesMax = 128 * 1024;

// Set by us for each job, or not at all: a worker that itself runs in a job must not pass on its own.
constexpr std::string_view kOwnNames[] = {
    "FQ_ID",           "FQ_QUEUE",    "FQ_TENANT",         "FQ_RECEIPT",     "FQ_ATTEMPT",
    "FQ_MAX_ATTEMPTS", "FQ_PRIORITY", "FQ_PUSHED_AT",      "FQ_WORKER_SLOT", "FQ_SPOOL",
    "FQ_BATCH",        "FQ_PAYLOAD",  "FQ_PAYLOAD_BASE64", "FQ_SCHEDULE",    "FQ_SCHEDULED_AT"};
constexpr std::string_view kTagPrefix = "FQ_TAG_";
// systemd speaks to the worker, not to its jobs.
constexpr std::string_view kSupervisorNames[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};

bool is_own(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  if (name.starts_with(kTagPrefix)) return true;
  return std::find(std::begin(kOwnNames), std::end(kOwnNames), name) != std::end(kOwnNames) ||
         std::find(std::begin(kSupervisorNames), std::end(kSupervisorNames), name) !=
             std::end(kSupervisorNames);
}

struct Placeholder {
  std::string_view name;
  std::string_view value;
};

std::string filled_in(std::string_view word, const std::vector<Placeholder>& placeholders) {
  std::string filled;
  while (!word.empty()) {
    const auto here = std::find_if(placeholders.begin(), placeholders.end(),
                                   [word](const Placeholder& each) { return word.starts_with(each.name); });
    const size_t taken = here == placeholders.end() ? 1 : here->name.size();
    filled.append(here == placeholders.end() ? word.substr(0, 1) : here->value);
    word.remove_prefix(taken);
  }
  return filled;
}

std::string variable(std::string_view name, std::string_view value) {
  return std::string(name).append("=").append(value);
}

/// Replaces one of that name: of two the command would see either.
void set_variable(std::vector<std::string>& environment, const std::string& variable) {
  const std::string_view start = std::string_view(variable).substr(0, variable.find('=') + 1);
  std::erase_if(environment, [start](const std::string& each) { return each.starts_with(start); });
  environment.push_back(variable);
}

}  // namespace

bool wants_payload(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word.find("{}") != std::string::npos; });
}

std::vector<std::string> words_for_all(const Options& options) {
  // A command that begins with - is no option of the shell.
  if (options.shell) return {"/bin/sh", "-c", "--", options.command[0]};
  return options.command;
}

Result<std::vector<std::string>> words_for(const Options& options, const Delivery& delivery,
                                           std::string_view payload) {
  if (delivery.command && options.command.empty()) return std::vector<std::string>(delivery.command->argv);
  if (options.shell) return words_for_all(options);
  const std::string id = std::to_string(number(delivery.id));
  const std::vector<Placeholder> placeholders = {
      {"{}", payload}, {"{id}", id}, {"{tenant}", delivery.tenant}};
  const bool takes_payload = wants_payload(options.command);
  if (takes_payload && payload.find('\0') != std::string_view::npos) {
    return Error{ErrorKind::bad_data,
                 "its payload holds a NUL, which no argument can; read it from standard input", 0};
  }
  std::vector<std::string> words;
  words.reserve(options.command.size());
  for (const std::string& word : options.command) {
    words.push_back(filled_in(word, placeholders));
    if (words.back().size() < kWordBytesMax) continue;
    return Error{ErrorKind::bad_data,
                 "its payload is too long for an argument (128 KiB); read it from standard input", 0};
  }
  return words;
}

Environment::Environment(const Options& options) {
  for (const std::string& each : options.environment) {
    if (!is_own(each)) base_.push_back(each);
  }
  base_.push_back(variable("FQ_SPOOL", options.spool));
}

std::vector<std::string> Environment::for_message(const std::string& queue, const Delivery& delivery,
                                                  uint32_t slot) const {
  std::vector<std::string> all = base_;
  if (delivery.command) {
    for (const std::string& each : delivery.command->env) {
      if (!is_own(each)) set_variable(all, each);
    }
  }
  all.push_back(variable("FQ_ID", std::to_string(number(delivery.id))));
  all.push_back(variable("FQ_QUEUE", queue));
  all.push_back(variable("FQ_TENANT", delivery.tenant));
  all.push_back(variable("FQ_RECEIPT", delivery.receipt.text()));
  all.push_back(variable("FQ_ATTEMPT", std::to_string(delivery.attempt)));
  all.push_back(variable("FQ_MAX_ATTEMPTS", std::to_string(delivery.attempts_max)));
  all.push_back(variable("FQ_PRIORITY", std::to_string(delivery.priority)));
  all.push_back(variable("FQ_PUSHED_AT", format_wall_time(delivery.pushed_at_wall_ms)));
  if (!delivery.schedule.empty()) {
    all.push_back(variable("FQ_SCHEDULE", delivery.schedule));
    all.push_back(variable("FQ_SCHEDULED_AT", format_wall_time(delivery.scheduled_at_wall_ms)));
  }
  all.push_back(variable("FQ_WORKER_SLOT", std::to_string(slot)));
  for (const Tag& tag : delivery.tags) all.push_back(variable(std::string(kTagPrefix) + tag.name, tag.value));
  return all;
}

std::vector<std::string> Environment::for_many(const std::string& queue, const std::string& tenant,
                                               size_t count, uint32_t slot) const {
  std::vector<std::string> all = base_;
  all.push_back(variable("FQ_QUEUE", queue));
  if (!tenant.empty()) all.push_back(variable("FQ_TENANT", tenant));
  if (count > 0) all.push_back(variable("FQ_BATCH", std::to_string(count)));
  all.push_back(variable("FQ_WORKER_SLOT", std::to_string(slot)));
  return all;
}

}  // namespace fq::worker
