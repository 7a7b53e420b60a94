// commands - the list of subcommands, and which options each of them takes.

// fq, this room.
#include "cli/words/command.h"

namespace fq::cli {

namespace {

constexpr const Command* kCommands[] = {
    &push_command,     &pop_command,    &ack_command,    &retry_command,   &release_command,
    &bury_command,     &extend_command, &kick_command,   &cancel_command,  &edit_command,
    &move_command,     &jobs_command,   &peek_command,   &show_command,    &explain_command,
    &log_command,      &stats_command,  &top_command,    &report_command,  &simulate_command,
    &wait_command,     &result_command, &worker_command, &workers_command, &queue_command,
    &schedule_command, &step_command,   &tenant_command, &config_command,  &check_command,
    &compact_command,  &backup_command, &export_command, &import_command,  &doctor_command,
    &help_command,
};

}  // namespace

std::span<const Command* const> all_commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  for (const Command* command : kCommands) {
    if (command->name == name) return command;
  }
  for (const Command* command : own_parts.commands) {
    if (command->name == name) return command;
  }
  return nullptr;
}

std::vector<const OptionSpec*> options_of(const Command& command) {
  std::vector<const OptionSpec*> options;
  options.reserve(command.options.own.size() + 6);
  for (const OptionSpec& option : command.options.own) options.push_back(&option);
  const std::string_view formats = command.options.formats;
  if (!formats.empty()) options.push_back(&kFormatOption);
  if (formats.find("json") != std::string_view::npos) options.push_back(&kJsonOption);
  if (formats.find("raw") != std::string_view::npos) options.push_back(&kRawOption);
  if (command.options.queue != nullptr) {
    options.push_back(&kSpoolOption);
    options.push_back(command.options.queue);
  }
  options.push_back(&kHelpOption);
  return options;
}

}  // namespace fq::cli
