#include "core/engine/engine.h"

// System.
#include <bit>
// fq, below us.
#include "core/base/tenant_name.h"
#include "core/base/text/duration.h"
// fq, this room.
#include "core/api/command_check.h"
#include "core/api/receipt.h"

namespace fq {

namespace {

Result<const Engine*> engine_of(const std::string& spool) {
  const std::string_view scheme = scheme_of(spool);
  for (const Engine* const engine : engines()) {
    if (engine->keeps(scheme)) return engine;
  }
  if (scheme.empty()) {
    return Error{ErrorKind::usage,
                 "spool '" + spool + "': is a directory, for which this program has no engine; use fq", 0};
  }
  // Whatever else a URL says may be a password.
  std::string text = "spool '" + std::string(scheme) + "://...': there is no engine for ";
  text.append(scheme).append("://; name a directory");
  return Error{ErrorKind::usage, std::move(text), 0};
}

Result<void> check_name(const std::string& queue) {
  const std::string_view fault = queue_name_fault(queue);
  if (fault.empty()) return {};
  return Error{ErrorKind::usage, "queue '" + queue + "': " + std::string(fault), 0};
}

Result<const Engine*> engine_of(const Location& location) {
  FQ_TRY(check_name(location.queue));
  return engine_of(location.spool);
}

}  // namespace

Result<void> Engine::rename(const Location& location, const std::string&) const {
  return Error{ErrorKind::usage, "queue '" + location.queue + "': only in a directory can a queue be renamed",
               0};
}

Result<std::vector<std::string>> Engine::back_up(const std::string& spool, const BackupRequest&) const {
  return Error{ErrorKind::usage, "spool '" + spool + "': only a directory can be backed up by fq", 0};
}

namespace {

Error policy_is_a_file(const std::string& spool) {
  return Error{ErrorKind::usage, "spool '" + spool + "': its policy is the file fq.toml in it", 0};
}

}  // namespace

Result<PolicyText> Engine::policy_text(const std::string& spool) const { return policy_is_a_file(spool); }

Result<std::string> Engine::keep_policy_text(const std::string& spool, const std::string&,
                                             const std::optional<std::string>&) const {
  return policy_is_a_file(spool);
}

std::string_view scheme_of(std::string_view spool) {
  const size_t end = spool.find("://");
  const bool is_scheme =
      end != std::string_view::npos && spool.substr(0, end).find('/') == std::string_view::npos;
  return is_scheme ? spool.substr(0, end) : std::string_view();
}

bool has_engine(const std::string& spool) { return engine_of(spool).ok(); }

Result<void> find_engine(const std::string& spool) {
  FQ_TRY_SET(const Engine* const engine, engine_of(spool));
  return engine->check(spool);
}

Result<void> check_takes_commands(const std::string& spool, std::string_view object) {
  FQ_TRY_SET(const Engine* const engine, engine_of(spool));
  return engine->check_takes_commands(spool, object);
}

Result<std::unique_ptr<Queue>> open_queue(const Location& location, const OpenOptions& options) {
  FQ_TRY_SET(const Engine* const engine, engine_of(location));
  return engine->open(location, options);
}

Result<std::vector<std::string>> list_queues(const std::string& spool) {
  FQ_TRY_SET(const Engine* const engine, engine_of(spool));
  return engine->list(spool);
}

bool is_receipt(std::string_view text) { return parse_receipt(text).has_value(); }

Result<std::string> queue_of_receipt(const std::string& spool, const Receipt& receipt) {
  const std::optional<ReceiptParts> parts = receipt.parts();
  if (!parts || parts->mark.empty()) return std::string();
  FQ_TRY_SET(const Engine* const engine, engine_of(spool));
  return engine->queue_marked(spool, parts->mark);
}

Result<bool> create_queue(const Location& location, const CreateOptions& options) {
  FQ_TRY_SET(const Engine* const engine, engine_of(location));
  const uint32_t shards = options.shards.value_or(1);
  if (!std::has_single_bit(shards) || shards > kShardsMax) {
    return Error{ErrorKind::usage,
                 "shards: " + std::to_string(shards) + " is not a power of two from 1 to " +
                     std::to_string(kShardsMax),
                 0};
  }
  const int64_t events_ms = options.events_ms.value_or(kEventsMsMin);
  if (events_ms < kEventsMsMin || events_ms > kEventsMsMax) {
    return Error{ErrorKind::usage,
                 "events: " + format_duration(events_ms) + " is not from " + format_duration(kEventsMsMin) +
                     " to " + format_duration(kEventsMsMax),
                 0};
  }
  return engine->create(location, options);
}

Result<void> remove_queue(const Location& location) {
  FQ_TRY_SET(const Engine* const engine, engine_of(location));
  return engine->remove(location);
}

Result<std::vector<std::string>> back_up(const std::string& spool, const BackupRequest& request) {
  FQ_TRY_SET(const Engine* const engine, engine_of(spool));
  return engine->back_up(spool, request);
}

Result<void> rename_queue(const Location& location, const std::string& name) {
  FQ_TRY_SET(const Engine* const engine, engine_of(location));
  FQ_TRY(check_name(name));
  return engine->rename(location, name);
}

Result<PolicyText> policy_text(const std::string& spool) {
  FQ_TRY_SET(const Engine* const engine, engine_of(spool));
  return engine->policy_text(spool);
}

Result<std::string> keep_policy_text(const std::string& spool, const std::string& text,
                                     const std::optional<std::string>& if_version) {
  FQ_TRY_SET(const Engine* const engine, engine_of(spool));
  return engine->keep_policy_text(spool, text, if_version);
}

std::vector<DoctorRow> examine(const std::string& spool, const std::optional<std::string>& queue) {
  const Result<const Engine*> engine = engine_of(spool);
  if (engine.ok()) return (*engine)->examine(spool, queue);
  return {{"spool", engine.error().text, Health::fault, "set FQ_SPOOL"}};
}

}  // namespace fq
