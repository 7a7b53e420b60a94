#include "core/redis/shard/server_link.h"

// fq, this room.
#include "core/redis/wire/answer.h"

namespace fq {

Result<Server*> ServerLink::server() {
  if (server_ != nullptr && server_->is_over()) server_.reset();
  if (server_ == nullptr) {
    FQ_TRY_SET(server_, Server::open(place_, password_));
  }
  return server_.get();
}

Result<std::vector<Reply>> ServerLink::ask(const std::vector<std::vector<std::string>>& commands) {
  const Turn held = turn();
  FQ_TRY_SET(Server* const server, this->server());
  for (const std::vector<std::string>& command : commands)
    server->add(std::vector<std::string_view>(command.begin(), command.end()));
  std::vector<Reply> replies;
  std::optional<Error> refused;
  for (const std::vector<std::string>& command : commands) {
    Result<Reply> reply = server->receive();
    if (!reply) drop();
    if (!reply) return std::move(reply).error();
    if (reply->kind == Reply::Kind::error && !refused)
      refused = error_of_refusal(server->name(), command[0], reply->text);
    replies.push_back(std::move(reply).value());
  }
  if (refused) return *refused;
  return replies;
}

}  // namespace fq
