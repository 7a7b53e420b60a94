// server_link - the connections of a place, that all who have the link share, one call at a time: so a queue
// of many shards needs no more of them than there are servers.
//
// It knows what of a server's refusals says that nothing was done, and asks again, there or elsewhere.
#pragma once

// System.
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/wire/nodes.h"

namespace fq {

class ServerLink {
 public:
  ServerLink(const RedisPlace& place, std::string password)
      : nodes_(place, std::move(password)), call_ms_(place.call_ms) {}

  /// What is to be sent to this server.
  using MakeWords = std::function<std::vector<std::string_view>(const Server&)>;
  struct Said {
    Reply reply;  // or a refusal
    std::string server;
    bool has_copy = true;  // where a replica is to have it before it is told
  };
  /// Whether a replica is waited for: by who only looks, by who can do without, by who must not lose it.
  enum class Copy { none, unless_it_lags, vital };
  struct Call {
    std::optional<std::string_view> key;  // to the server that has it; none: to any
    MakeWords words;
  };
  /// What came of one that was sent once.
  struct Try {
    std::shared_ptr<Server> server;  // none: it cannot be reached
    Result<Reply> reply;             // or a refusal
    bool has_copy = true;
  };
  /// All are sent before any is answered, and none again. What is lost of one server is no matter of others.
  std::vector<Try> try_each(std::span<const Call> calls, Copy copy);
  /// Until there is an answer that says what became of it. `first`: made already, and taken out of there.
  Result<Said> say(std::string_view key, const MakeWords& words, Copy copy = Copy::none,
                   std::optional<Try>* first = nullptr);
  /// What may be done twice: asked for once more where the answer was lost. A refusal is an Error.
  Result<Reply> call(std::string_view key, Words words);
  /// The connection was lost before an answer came, or it did not come where another server may take over.
  bool was_cut(const Error& error);

  /// Commands in one go, each to the server that has its first key, TIME likewise; replies in order. A
  /// refusal is an Error.
  std::vector<Result<Reply>> ask(const std::vector<std::vector<std::string>>& commands);
  /// Likewise; once more what a connection lost. A server that is slow is not asked twice.
  std::vector<Result<Reply>> ask_anew(const std::vector<std::vector<std::string>>& commands);
  /// Likewise; where a server is away, whoever takes over is waited for. Needs: each has a key.
  std::vector<Result<Reply>> ask_and_wait(const std::vector<std::vector<std::string>>& commands);

  /// Pages of names of keys, of all servers.
  Result<void> scan(const std::string& pattern,
                    const std::function<Result<void>(const std::vector<std::string>&)>& visit);
  Result<void> on_each_server(const std::function<Result<void>(Server&)>& run);
  /// On those that can be reached; `away` hears why another cannot, or what `run` met.
  Result<void> on_each_there(const std::function<Result<void>(Server&)>& run,
                             const std::function<void(Error)>& away);
  Result<bool> is_cluster();
  /// Where one more connection to the one that has this key leads.
  Result<RedisPlace> place_of(std::string_view key);
  /// Who has what is to be asked anew.
  void forget_owners();
  /// As a refusal says it.
  void note_moved(std::string_view refusal, const Server& by);
  /// Of a cluster, those that nobody has.
  Result<uint32_t> unserved_slots();
  /// The lowest of the masters that can be reached.
  Result<Level> level();

 private:
  // Needs: the lock, each of them.
  std::vector<Try> try_all(std::span<const Call> calls, Copy copy);
  Result<Said> say_until(const Call& call, Copy copy, int64_t deadline_ms,
                         std::optional<Try> first = std::nullopt);
  /// Whether to ask again, when that is worth while and not too late.
  bool goes_on(std::string_view refusal, const std::shared_ptr<Server>& server, int tries,
               int64_t deadline_ms);
  bool leaves(std::string_view refusal, const std::shared_ptr<Server>& server);
  bool tries_again(const Error& error, int tries, int64_t deadline_ms);
  /// One that is connected, or the first that can be.
  Result<std::shared_ptr<Server>> met();
  /// Whether who waits for servers may go on doing so. Who has waited in vain waits no second time at once.
  bool may_wait(int64_t deadline_ms);
  Result<std::vector<std::shared_ptr<Server>>> masters_now();

  // Takes the lock, both.
  Result<std::vector<std::shared_ptr<Server>>> all_masters();
  Result<std::string> scan_page(const std::shared_ptr<Server>& server, const std::string& cursor,
                                const std::string& pattern, std::vector<std::string>& names);
  Result<std::shared_ptr<Server>> connected_anew(const Server& server);

  std::mutex mutex_;
  Nodes nodes_;
  const int64_t call_ms_;
  int64_t impatient_until_ms_ = 0;
};

}  // namespace fq
