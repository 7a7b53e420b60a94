#include "cli/words/worker_options.h"

// System.
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/size.h"
#include "core/worker/process/command_line.h"
// fq, this room.
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kOwnOptions[] = {
    {"How many", 'j', "jobs", Takes::value, "N", "jobs at once (default: 1)"},
    {"How many", 0, "min", Takes::value, "N", "with --max: at least N (default: 0)"},
    {"How many", 0, "max", Takes::value, "N", "as many as the backlog asks for, up to N"},
    {"How long", 0, "once", Takes::nothing, "", "one message or batch, then leave"},
    {"How long", 0, "drain", Takes::nothing, "", "until the queue is idle"},
    {"How long", 0, "strict", Takes::nothing, "", "with --drain: exit 1 if a job was not acked"},
    {"How long", 0, "grace", Takes::value, "DUR", "from TERM to KILL (default: 10s)"},
    {"Each job", 0, "attempts", Takes::value, "N", "runs that count (default: attempts in fq.toml)"},
    {"Each job", 0, "timeout", Takes::value, "DUR", "run limit (default: timeout in fq.toml)"},
    {"Each job", 0, "backoff", Takes::value, "BASE..MAX", "wait before the next try (default: fq.toml)"},
    {"Each job", 0, "shell", Takes::nothing, "", "CMD is one text for sh -c"},
    {"Each job", 0, "nice", Takes::value, "N", "its niceness (default: ours)"},
    {"Each job", 0, "rlimit", Takes::value, "NAME=N", "a limit, as nofile=256; may be given again"},
    {"Each job", 0, "output", Takes::value, "WHAT", "inherit, keep, fail or discard (default: inherit)"},
    {"Each job", 0, "output-max", Takes::value, "SIZE", "kept of each output (default: 16MiB)"},
    {"Each job", 0, "tag-output", Takes::nothing, "", "lines begin with id and tenant"},
    {"Each job", 'v', "verbose", Takes::nothing, "", "a line a message on stderr"},
    {"Batches and streams", 0, "batch", Takes::value, "N", "up to N messages of one tenant a job"},
    {"Batches and streams", 0, "linger", Takes::value, "DUR", "wait so long for N (default: none)"},
    {"Batches and streams", 0, "batch-format", Takes::value, "AS", "ndjson, lines or null (default: ndjson)"},
    {"Batches and streams", 0, "stream", Takes::nothing, "", "CMD stays up: JSON in, verdicts out"},
    {"Batches and streams", 0, "prefetch", Takes::value, "N", "open messages a process (default: 64)"},
};

constexpr uint64_t kSlotsMax = 1024;       // arbitrary; each may need several descriptors
constexpr uint64_t kBatchMax = 100'000;    // arbitrary
constexpr uint64_t kPrefetchMax = 10'000;  // arbitrary

struct LimitName {
  std::string_view name;
  int resource;
};
constexpr LimitName kLimits[] = {
    {"as", RLIMIT_AS},         {"core", RLIMIT_CORE},   {"cpu", RLIMIT_CPU},
    {"data", RLIMIT_DATA},     {"fsize", RLIMIT_FSIZE}, {"memlock", RLIMIT_MEMLOCK},
    {"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC}, {"stack", RLIMIT_STACK},
};

/// One of a few words.
template <class Value, size_t N>
Result<Value> one_of(std::string_view option, std::string_view typed,
                     const std::pair<std::string_view, Value> (&words)[N]) {
  std::vector<std::string_view> known;
  for (const auto& [word, value] : words) {
    if (word == typed) return value;
    known.push_back(word);
  }
  return not_among(option, typed, "one of its words", known);
}

Result<worker::ResourceLimit> limit_of(std::string_view typed) {
  const size_t equals = typed.find('=');
  const std::string_view name = typed.substr(0, equals);
  const auto known = std::find_if(std::begin(kLimits), std::end(kLimits),
                                  [name](const LimitName& each) { return each.name == name; });
  if (known == std::end(kLimits) || equals == std::string_view::npos) {
    std::string names;
    for (const LimitName& each : kLimits) names.append(names.empty() ? "" : ", ").append(each.name);
    return usage_error("--rlimit", in_quotes(typed) + " is not NAME=N; names are " + names);
  }
  worker::ResourceLimit limit{known->resource, RLIM_INFINITY};
  const std::string_view value = typed.substr(equals + 1);
  if (value == "unlimited") return limit;
  uint64_t number = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  const std::optional<uint64_t> bytes = whole ? std::optional(number) : parse_size(value);
  if (!bytes)
    return usage_error("--rlimit", in_quotes(value) + " is neither a number nor a size nor 'unlimited'");
  limit.value = *bytes;
  return limit;
}

Result<void> read_counts(const Arguments& arguments, worker::Options& options) {
  if (const auto typed = arguments.value("jobs")) {
    if (arguments.has("max") || arguments.has("min"))
      return usage_error("-j", "does not go with --min and --max; give one or the other");
    FQ_TRY_SET(const uint64_t jobs, to_count("-j", *typed, kSlotsMax));
    options.slots_min = options.slots_max = static_cast<uint32_t>(jobs);
  }
  if (arguments.has("min") && !arguments.has("max")) return usage_error("--min", "needs --max");
  if (const auto typed = arguments.value("max")) {
    FQ_TRY_SET(const uint64_t most, to_count("--max", *typed, kSlotsMax));
    options.slots_max = static_cast<uint32_t>(most);
    options.slots_min = 0;
  }
  if (const auto typed = arguments.value("min")) {
    // The one count that may be 0: none is kept while there is nothing to do.
    uint64_t least = 0;
    if (*typed != "0") {
      FQ_TRY_SET(least, to_count("--min", *typed, kSlotsMax));
    }
    if (least > options.slots_max) return usage_error("--min", "is more than --max");
    options.slots_min = static_cast<uint32_t>(least);
  }
  if (arguments.has("once") && arguments.has("drain"))
    return usage_error("--once", "does not go with --drain; give one of them");
  options.strict = arguments.has("strict");
  if (options.strict && !arguments.has("drain")) return usage_error("--strict", "needs --drain");
  if (arguments.has("once")) options.stay = worker::Stay::once;
  if (arguments.has("drain")) options.stay = worker::Stay::drain;
  return {};
}

Result<void> read_limits(const Arguments& arguments, worker::Options& options) {
  if (const auto typed = arguments.value("grace")) {
    FQ_TRY_SET(options.grace_ms, to_duration("--grace", *typed));
  }
  if (const auto typed = arguments.value("attempts")) {
    FQ_TRY_SET(const uint64_t attempts, to_count("--attempts", *typed, kAttemptsMax));
    options.attempts = static_cast<uint32_t>(attempts);
  }
  if (const auto typed = arguments.value("timeout")) {
    FQ_TRY_SET(const std::optional<int64_t> limit_ms, to_positive_duration_or("none", "--timeout", *typed));
    options.timeout_ms = limit_ms.value_or(0);
  }
  if (const auto typed = arguments.value("backoff")) {
    options.backoff = parse_backoff(*typed);
    if (!options.backoff) {
      return usage_error("--backoff",
                         in_quotes(*typed) + " is not two durations, the smaller one first; write 5s..1h");
    }
  }
  if (const auto typed = arguments.value("nice")) {
    const Result<int32_t> nice = to_priority("--nice", *typed);
    if (!nice.ok() || *nice < -20 || *nice > 19)
      return usage_error("--nice",
                         in_quotes(*typed) + " is not a niceness; write a whole number from -20 to 19");
    options.nice = *nice;
  }
  for (const std::string_view typed : arguments.values("rlimit")) {
    FQ_TRY_SET(const worker::ResourceLimit limit, limit_of(typed));
    options.limits.push_back(limit);
  }
  return {};
}

Result<void> read_batches(const Arguments& arguments, worker::Options& options) {
  if (const auto typed = arguments.value("batch")) {
    FQ_TRY_SET(const uint64_t batch, to_count("--batch", *typed, kBatchMax));
    options.batch = static_cast<uint32_t>(batch);
  }
  for (const std::string_view name : {"linger", "batch-format"}) {
    if (arguments.has(name) && options.batch == 0)
      return usage_error("--" + std::string(name), "needs --batch");
  }
  if (const auto typed = arguments.value("linger")) {
    FQ_TRY_SET(const std::optional<int64_t> linger_ms, to_duration_or("none", "--linger", *typed));
    options.linger_ms = linger_ms.value_or(0);
  }
  if (const auto typed = arguments.value("batch-format")) {
    constexpr std::pair<std::string_view, worker::BatchFormat> kForms[] = {
        {"ndjson", worker::BatchFormat::ndjson},
        {"lines", worker::BatchFormat::lines},
        {"null", worker::BatchFormat::null}};
    FQ_TRY_SET(options.batch_format, one_of("--batch-format", *typed, kForms));
  }
  options.stream = arguments.has("stream");
  if (arguments.has("prefetch") && !options.stream) return usage_error("--prefetch", "needs --stream");
  if (const auto typed = arguments.value("prefetch")) {
    FQ_TRY_SET(const uint64_t open, to_count("--prefetch", *typed, kPrefetchMax));
    options.prefetch = static_cast<uint32_t>(open);
  }
  return {};
}

Result<void> read_output(const Arguments& arguments, worker::Options& options) {
  options.verbose = arguments.has("verbose");
  options.tags_output = arguments.has("tag-output");
  if (options.tags_output && arguments.value("output").value_or("inherit") != "inherit")
    return usage_error("--tag-output", "goes with --output inherit only, which passes lines on");
  if (options.tags_output && options.stream)
    return usage_error("--tag-output", "does not go with --stream: its lines belong to no single message");
  if (const auto typed = arguments.value("output")) {
    constexpr std::pair<std::string_view, worker::OutputPolicy> kPolicies[] = {
        {"inherit", worker::OutputPolicy::inherit},
        {"keep", worker::OutputPolicy::keep},
        {"fail", worker::OutputPolicy::fail},
        {"discard", worker::OutputPolicy::discard}};
    FQ_TRY_SET(options.output, one_of("--output", *typed, kPolicies));
  }
  if (const auto typed = arguments.value("output-max")) {
    const std::optional<uint64_t> bytes = parse_size(*typed);
    if (!bytes) return usage_error("--output-max", in_quotes(*typed) + " is not a size; write 64KiB or 10MB");
    options.output_bytes_max = *bytes;
    options.output_max_given = true;
  }
  return {};
}

/// What the command's words and the other options make of each other.
Result<void> check_whole(const Arguments& arguments, const worker::Options& options) {
  if (!arguments.operands().empty()) {
    return usage_error("worker", "takes no operand " + in_quotes(arguments.operands()[0]) +
                                     "; the command goes behind --: fq worker -- CMD ARG...");
  }
  const bool many = options.batch > 0 || options.stream;
  if (options.batch > 0 && options.stream)
    return usage_error("--batch", "does not go with --stream; give one of them");
  if (many && options.command.empty())
    return usage_error("worker", "--batch and --stream need a command: -- CMD");
  if (options.shell && options.command.size() != 1) {
    return usage_error("--shell", "takes one text behind --, as in fq worker --shell -- 'cmd | other'");
  }
  for (const std::string_view mark : {"{}", "{id}", "{tenant}"}) {
    const bool used = std::any_of(options.command.begin(), options.command.end(),
                                  [mark](const std::string& w) { return w.find(mark) != std::string::npos; });
    // In a text for a shell a payload would be read again, as words and commands.
    if (used && options.shell)
      return usage_error("--shell",
                         std::string(mark) + " does not go with it; read the payload from standard input");
    if (!options.command.empty() && options.command[0].find(mark) != std::string::npos)
      return usage_error(mark, "is not taken in the command's own name; a message would choose the program");
    if (used && many && mark != "{tenant}")
      return usage_error(mark, "does not go with --batch and --stream: there are many messages");
    if (used && options.stream) return usage_error(mark, "does not go with --stream: there are many tenants");
  }
  if (options.stream && arguments.has("output"))
    return usage_error("--stream", "does not go with --output: its output is read as verdicts");
  return {};
}

}  // namespace

const OptionTable kWorkerOptions = {
    .own = kOwnOptions, .queue = &kQueueOption, .formats = "", .takes_job = true};

Result<worker::Options> worker_options_of(const Arguments& arguments) {
  worker::Options options;
  options.command = arguments.job();
  options.shell = arguments.has("shell");
  FQ_TRY(read_counts(arguments, options));
  FQ_TRY(read_limits(arguments, options));
  FQ_TRY(read_batches(arguments, options));
  FQ_TRY(read_output(arguments, options));
  FQ_TRY(check_whole(arguments, options));
  return options;
}

}  // namespace fq::cli
