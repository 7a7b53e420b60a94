// edit - changes a message that waits or is dead: by options, or its form in an editor.

// System.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
// fq, below us.
#include "core/base/text/utf8.h"
// fq, this room.
#include "cli/requests/edit_fields.h"
#include "cli/session/ending.h"
#include "cli/session/session.h"
#include "cli/terminal/editor.h"
#include "cli/terminal/input.h"
#include "cli/terminal/new_file.h"
#include "cli/views/message_view.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kEditOptions[] = {
    {"Message", 'p', "priority", Takes::value, "N", "higher first"},
    {"Message", 0, "key", Takes::value, "KEY", "sort key where order is \"key\"; --key= is none"},
    {"Message", 0, "delay", Takes::value, "DUR", "not before this long from now, or none"},
    {"Message", 0, "at", Takes::value, "TIME", "not before this time"},
    {"Message", 0, "ttl", Takes::value, "DUR", "dead if not started this long after it is due, or none"},
    {"Message", 0, "attempts", Takes::value, "N", "runs that count"},
    {"Message", 0, "tag", Takes::value, "K=V", "a label; K= removes it; may be given again"},
    {"Job", 0, "timeout", Takes::value, "DUR", "limit of a run, or none: timeout in fq.toml"},
    {"Job", 0, "shell", Takes::value, "TEXT", "instead of -- CMD: TEXT for sh -c"},
    {"Payload", 0, "payload", Takes::value, "TEXT", "the new payload"},
    {"Payload", 0, "file", Takes::value, "PATH", "read it from a file, '-' is stdin"},
};

constexpr std::string_view kUnchanged = "; nothing was changed";

/// The file that is edited. It goes with this object, unless what is in it was typed for nothing.
class Form {
 public:
  static Result<Form> make(MessageId id, const std::string& text) {
    const char* directory = ::secure_getenv("TMPDIR");
    std::string path = directory == nullptr || *directory == '\0' ? "/tmp" : directory;
    path += "/fq-edit-" + std::to_string(number(id)) + ".XXXXXX.json";
    constexpr int kSuffix = 5;
    const int made = ::mkostemps(path.data(), kSuffix, 0);  // only to find a name that is free
    if (made < 0) return sys_error("make", path, errno);
    ::close(made);
    ::unlink(path.c_str());
    FQ_TRY(write_new_file(path, text));
    return Form(path, text);
  }
  Form(Form&& other) noexcept : path_(std::exchange(other.path_, {})), before_(std::move(other.before_)) {}
  ~Form() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }
  const std::string& before() const { return before_; }
  /// What was typed stays; says where.
  std::string keep() { return "; what you typed is in " + std::exchange(path_, {}); }

 private:
  Form(std::string path, std::string before) : path_(std::move(path)), before_(std::move(before)) {}
  std::string path_;
  std::string before_;
};

std::string object_of(MessageId id) { return "message " + std::to_string(number(id)); }

/// Why there is nothing to edit, by a look at the message; "": there is.
std::string fault_of(const Session& session, MessageId id, const std::optional<MessageInfo>& message) {
  if (!message) return object_of(id) + ": not in queue '" + session.queue_name() + "'";
  switch (message->state) {
    case State::leased:
      return object_of(id) + ": is running; it can be cancelled, or edited once it has come back";
    case State::moved:
      return object_of(id) + ": " + (message->moved_to ? moved_text(*message->moved_to) : "was moved");
    case State::acked:
    case State::cancelled:
      return object_of(id) + ": has ended already";
    default:
      return "";
  }
}

Result<std::string> payload_of(const Arguments& arguments, uint64_t bytes_max) {
  if (const auto text = arguments.value("payload")) {
    if (text->size() > bytes_max) return payload_too_long("--payload", bytes_max);
    return std::string(*text);
  }
  const std::string path(*arguments.value("file"));
  FQ_TRY_SET(Reader source, path == "-" ? Reader::standard_input() : Reader::file(path));
  return source.read_all(bytes_max);
}

Result<Exit> put(Session& session, Queue& queue, MessageId id, const EditFields& fields) {
  FQ_TRY_SET(const SettleStatus status, queue.edit(id, patch_of(fields)));
  say_notices(queue);
  if (status == SettleStatus::ok) return Exit::done;
  FQ_TRY_SET(const std::optional<MessageInfo> message, queue.get(id));
  const std::string fault = fault_of(session, id, message);
  return Error{ErrorKind::missing,
               (fault.empty() ? object_of(id) + ": was running just then" : fault) + std::string(kUnchanged),
               0};
}

/// What was typed into the form, as far as the editor ended well.
Result<std::string> typed_into(const Form& form, const std::string& command, MessageId id) {
  FQ_TRY_SET(const int status, run_editor(command, form.path()));
  if (status != 0) return Error{ErrorKind::missing, "the editor ended " + end_of_editor(status), 0};
  FQ_TRY_SET(std::string text, read_text_file(form.path()));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return Error{ErrorKind::bad_data, object_of(id) + ": the form is empty", 0};
  return text;
}

bool is_utf8(const JobCommand& command) {
  const auto are_utf8 = [](const auto& words) { return std::all_of(words.begin(), words.end(), utf8_valid); };
  return are_utf8(command.argv) && utf8_valid(command.cwd) && are_utf8(command.env);
}

/// The form has U+FFFD where the command has other bytes: a command that is made of it has lost them.
Result<void> check_bytes(const std::optional<JobCommand>& before, const EditFields& fields) {
  const bool is_made = fields.command && fields.command->has_value();
  if (!is_made || !before || is_utf8(*before)) return {};
  return Error{ErrorKind::bad_data,
               "its command or variables have bytes that are not UTF-8, which no form shows; give another "
               "command by --shell or -- CMD",
               0};
}

Result<Exit> edit_form(Session& session, Queue& queue, const MessageInfo& message, Order order) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)
    return usage_error("edit", "there is no terminal for an editor; give the changes as options");
  if (!message.lost.empty())
    return Error{ErrorKind::bad_data, object_of(message.id) + ": " + message.lost, 0};
  FQ_TRY_SET(const std::string command, editor_command("edit"));
  FQ_TRY_SET(Form form, Form::make(message.id, message_form(message)));
  const auto refuse = [&](Error error) {
    const Result<std::string> left = read_text_file(form.path());
    const bool typed = left.ok() && left->find_first_not_of(" \t\r\n") != std::string::npos;
    if (!error.text.starts_with(object_of(message.id))) error.text.insert(0, object_of(message.id) + ": ");
    if (error.text.find(kUnchanged) == std::string::npos) error.text += kUnchanged;
    if (typed && *left != form.before()) error.text += form.keep();
    return error;
  };
  Result<std::string> typed = typed_into(form, command, message.id);
  if (!typed) return refuse(std::move(typed).error());
  Result<EditFields> fields = difference(form.before(), *typed);
  if (!fields) return refuse(std::move(fields).error());
  if (Result<void> good = check_bytes(message.command, *fields); !good)
    return refuse(std::move(good).error());
  if (Result<void> good = check_order(*fields, order, "priority", "key"); !good)
    return refuse(Error{ErrorKind::bad_data, good.error().text, 0});
  Result<Exit> done = put(session, queue, message.id, *fields);
  if (!done) return refuse(std::move(done).error());
  return done;
}

Result<Exit> run_edit(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  if (operands.size() != 1)
    return usage_error("ID", operands.empty() ? "which message? give its id"
                                              : "is one message; a new payload is given by --payload");
  FQ_TRY_SET(const MessageId id, to_id("ID", operands[0]));
  FQ_TRY_SET(EditFields fields, edit_fields_of(arguments));
  const bool has_payload = arguments.has("payload") || arguments.has("file");
  if (arguments.has("payload") && arguments.has("file"))
    return usage_error("--payload", "does not go with --file; give one of them");
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(const Settings settings, queue->settings());
  FQ_TRY(check_order(fields, settings.order, "--priority", "--key"));
  if (has_payload) {
    FQ_TRY_SET(fields.payload, payload_of(arguments, settings.payload_bytes_max));
  }
  FQ_TRY_SET(const std::optional<MessageInfo> message, queue->get(id));
  const std::string fault = fault_of(session, id, message);
  if (!fault.empty()) return Error{ErrorKind::missing, fault, 0};
  // A command is another, in the same variables.
  if (fields.command && message->command) (*fields.command)->env = message->command->env;
  if (!is_empty(patch_of(fields))) return put(session, *queue, id, fields);
  return edit_form(session, *queue, *message, settings.order);
}

}  // namespace

const Command edit_command = {
    "edit",
    "change a message that is waiting or dead",
    "ID [OPTIONS] [-- CMD ARG...]",
    "Changes a waiting or dead message; without options, in an editor.",
    {kEditOptions, &kQueueOption, "", true},
    "fq edit 7 -p 10 --tag owner=eve",
    "0 changed; 1 it runs, has ended or is not there, or the editor failed;\n"
    "65 a bad value or payload",
    run_edit,
};

}  // namespace fq::cli
