#include "core/redis/shard/function_call.h"

// System.
#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>
// fq, this room.
#include "core/redis/shard/doubt.h"
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr int kLoadsMax = 3;  // a failover may take a library away that was just loaded

bool is_one_of(std::string_view function, std::span<const std::string_view> all) {
  return std::find(all.begin(), all.end(), function) != all.end();
}

Result<bool> is_loaded_anew(const std::string& server, const Reply& reply) {
  if (reply.kind != Reply::Kind::error) return true;
  if (reply.text.find("already exists") != std::string::npos) return false;  // somebody else was as quick
  if (reply.text.starts_with("NOPERM")) {
    return Error{ErrorKind::unusable,
                 server + ": FUNCTION LOAD: this user may not; an administrator must run fq-redis load URL",
                 0};
  }
  return error_of_refusal(server, "FUNCTION LOAD", reply.text);
}

}  // namespace

Result<bool> load_library(Server& server, const Library& library) {
  FQ_TRY_SET(const Reply reply,
             server.call(std::array<std::string_view, 3>{"FUNCTION", "LOAD", library.text}));
  return is_loaded_anew(server.name(), reply);
}

namespace {

/// What is told accepted, or done as it was asked for, is not to be lost; verdicts and the like are made up
/// for by a second run.
ServerLink::Copy copy_of(std::string_view function) {
  constexpr std::string_view kOnlyLook[] = {"look", "run", "listen"};
  constexpr std::string_view kAccept[] = {"push",   "import",  "step",     "fire", "take",    "order",
                                          "policy", "shorten", "crossing", "make", "retitle", "arrange"};
  if (is_one_of(function, kOnlyLook)) return ServerLink::Copy::none;
  return is_one_of(function, kAccept) ? ServerLink::Copy::vital : ServerLink::Copy::unless_it_lags;
}

constexpr size_t kIdsTold = 16;  // arbitrary

/// Of a push, the ids: nobody else can say any more which messages these are.
std::string as_which(const FunctionCall& call, const Reply& reply) {
  const std::vector<Reply>& items = reply.at(1).items;
  if (call.name() != "push" || items.size() < 2) return "";
  const size_t count = items.size() / 2;
  std::string text = count == 1 ? " as message " : " as messages ";
  for (size_t i = 0; i < std::min(count, kIdsTold); ++i)
    text.append(i == 0 ? "" : ", ").append(items[2 * i + 1].text);
  return count <= kIdsTold ? text : text + " and " + std::to_string(count - kIdsTold) + " more";
}

}  // namespace

FunctionCall::FunctionCall(const Library& library, std::string_view name, std::vector<std::string> keys,
                           ServerLink::MakeWords arguments, bool is_lazy)
    : library_(library),
      name_(name),
      function_(std::string(library.name) + "_" + std::string(name)),
      key_count_(std::to_string(keys.size())),
      keys_(std::move(keys)),
      arguments_(std::move(arguments)),
      is_lazy_(is_lazy) {}

FunctionCall FunctionCall::with_head() && {
  has_head_ = true;
  return std::move(*this);
}

bool FunctionCall::is_answer(const Reply& reply) const {
  if (reply.kind != Reply::Kind::list || reply.items.empty()) return false;
  return !has_head_ || reply.items[0].kind == Reply::Kind::list;
}

ServerLink::Copy FunctionCall::copy() const { return is_lazy_ ? ServerLink::Copy::none : copy_of(name_); }

std::vector<std::string_view> FunctionCall::words(const Server& server) const {
  std::vector<std::string_view> words = {name_ == "look" ? "FCALL_RO" : "FCALL", function_, key_count_};
  words.insert(words.end(), keys_.begin(), keys_.end());
  const std::vector<std::string_view> more = arguments_(server);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Result<Reply> call_function(ServerLink& link, const FunctionCall& call, FirstTry* first) {
  const auto words = [&](const Server& server) { return call.words(server); };
  const auto load = [&](const Server&) {
    return std::vector<std::string_view>{"FUNCTION", "LOAD", call.library().text};
  };
  for (int loads = 0;; ++loads) {
    FQ_TRY_SET(ServerLink::Said said, link.say(call.key(), words, call.copy(), first));
    if (!said.has_copy && call.copy() == ServerLink::Copy::vital && call.is_answer(said.reply)) {
      return Error{ErrorKind::io,
                   said.server + ": has accepted it" + as_which(call, said.reply) +
                       ", and no replica has yet; it may be lost if that server dies now",
                   ETIMEDOUT};
    }
    if (call.is_answer(said.reply)) return std::move(said.reply);
    if (said.reply.kind != Reply::Kind::error) {
      return Error{ErrorKind::io,
                   said.server + ": does not answer " + std::string(call.name()) +
                       " as its program does; the outcome is unknown",
                   0};
    }
    if (!lacks_library(said.reply.text) || loads == kLoadsMax)
      return error_of_refusal(said.server, call.name(), said.reply.text);
    FQ_TRY_SET(said, link.say(call.key(), load));
    FQ_TRY(is_loaded_anew(said.server, said.reply));
  }
}

Result<Reply> call_function(ServerLink& link, const Library& library, std::string_view name, Words keys,
                            Words arguments) {
  const auto same = [&](const Server&) {
    return std::vector<std::string_view>(arguments.begin(), arguments.end());
  };
  const FunctionCall call(library, name, {keys.begin(), keys.end()}, same);
  const auto ask = [&] { return call_function(link, call); };
  // Who finds it made, or whole, has made it.
  return name == "make" || name == "whole" ? ask_twice(link, ask) : ask();
}

}  // namespace fq
