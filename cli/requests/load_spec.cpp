#include "cli/requests/load_spec.h"

// System.
#include <string>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/policy/policy_value.h"
// fq, this room.
#include "cli/words/values.h"

namespace fq::cli {

namespace {

Error bad_spec(std::string_view name, std::string_view text, std::string_view what) {
  return usage_error(name, in_quotes(text) + ": " + std::string(what));
}

Result<PolicyValue> value_of(std::string_view name, std::string_view spec, std::string_view key,
                             std::string_view text) {
  const PolicyKeySpec& known = *find_policy_key(key);
  Result<PolicyValue> value = parse_policy_value(known, text);
  if (!value) return bad_spec(name, spec, std::string(key) + " " + value.error().text);
  if (value->number == kUnlimited) return bad_spec(name, spec, "a " + std::string(key) + " has an end");
  return value;
}

}  // namespace

Result<LoadSpec> to_load_spec(std::string_view name, std::string_view text) {
  constexpr std::string_view kForm = "is not TENANT:RATE,run=DUR[,weight=W]; write acme:10/s,run=2s";
  LoadSpec load;
  // A tenant may have a colon or a comma in its name, what comes behind it has no colon.
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_spec(name, text, kForm);
  FQ_TRY_SET(load.tenant, to_tenant(name, text.substr(0, colon)));
  std::string_view rest = text.substr(colon + 1);
  const auto next = [&] {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
  };
  FQ_TRY_SET(const PolicyValue rate, value_of(name, text, "rate", next()));
  load.count = static_cast<uint64_t>(rate.number);
  load.span_ms = rate.second;
  bool has_run = false;
  while (!rest.empty()) {
    const std::string_view part = next();
    if (part.starts_with("run=")) {
      FQ_TRY_SET(load.run_ms, to_duration(name, part.substr(4)));
      has_run = true;
    } else if (part.starts_with("weight=")) {
      FQ_TRY_SET(const PolicyValue weight, value_of(name, text, "weight", part.substr(7)));
      load.weight_milli = static_cast<uint32_t>(weight.number);
    } else {
      return bad_spec(name, text, kForm);
    }
  }
  if (!has_run) return bad_spec(name, text, kForm);
  return load;
}

}  // namespace fq::cli
