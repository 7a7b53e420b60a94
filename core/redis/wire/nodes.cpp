#include "core/redis/wire/nodes.h"

// System.
#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr size_t kNamesMax = 1024;  // of masters, since they were asked for: more than a cluster can have
constexpr size_t kHostBytesMax = 255;
constexpr int64_t kPortMax = 65'535;

// One that does not answer costs a sixth of the time at most: so many times as long as the try took it is
// let alone.
constexpr int64_t kLetAlone = 5;
constexpr int64_t kLetAloneMinMs = 100;
// Where none answers there is no other to go to: who comes back is to be met soon. But what asks for many
// keys waits no longer than what asks for one.
constexpr int64_t kAllLetAlone = 1, kAllLetAloneMinMs = 0;
constexpr int64_t kLearnedMs = 100;  // so long who has what is not asked again

bool is_host(std::string_view host) {
  constexpr std::string_view kOthers = ".-_:";
  return !host.empty() && host.size() <= kHostBytesMax &&
         std::all_of(host.begin(), host.end(), [&](char each) {
           return std::isalnum(static_cast<unsigned char>(each)) != 0 ||
                  kOthers.find(each) != std::string_view::npos;
         });
}

/// "HOST:PORT" apart; brackets of IPv6 go.
RedisPlace::Host host_of(std::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return {std::string(name), 0};
  std::string_view host = name.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const uint64_t port = parse_decimal(name.substr(colon + 1)).value_or(0);
  return {std::string(host), static_cast<uint16_t>(port <= kPortMax ? port : 0)};
}

/// As the connection is named; "": it is no address. One that does not know its own name is the one that was
/// asked.
std::string name_of(std::string_view host, int64_t port, const std::string& asked) {
  const std::string found = host.empty() || host == "?" ? host_of(asked).name : std::string(host);
  if (!is_host(found) || port < 1 || port > kPortMax) return {};
  return name_of_host({found, static_cast<uint16_t>(port)});
}

}  // namespace

uint16_t Nodes::index_of(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<uint16_t>(found - names_.begin() + 1);
  if (names_.size() == kNamesMax) return 0;
  names_.push_back(name);
  return static_cast<uint16_t>(names_.size());
}

std::shared_ptr<Server> Nodes::connected(Node& node) {
  if (node.server != nullptr && !node.server->is_still_usable()) node.server.reset();
  return node.server;
}

void Nodes::Absence::begin(Error why, int64_t begin_ms, int64_t times, int64_t least_ms) {
  const int64_t now_ms = system_clock().boot_ms();
  until_ms = now_ms + std::max(least_ms, times * (now_ms - begin_ms));
  fault = std::move(why);
}

bool Nodes::Absence::lasts() const { return fault && system_clock().boot_ms() < until_ms; }

/// One that is connected, else the first of the seeds that answers, else of those that are known besides.
Result<std::shared_ptr<Server>> Nodes::any() {
  for (auto& [name, node] : nodes_) {
    if (std::shared_ptr<Server> server = connected(node)) return server;
  }
  if (all_absent_.lasts()) return *all_absent_.fault;
  const int64_t begin_ms = system_clock().boot_ms();
  Result<std::unique_ptr<Server>> opened = Server::open(place_, password_);
  if (opened) {
    is_cluster_ = (*opened)->is_cluster();
    Node& node = nodes_[(*opened)->name()];
    node.server = std::move(opened).value();
    return node.server;
  }
  for (const std::string& name : names_) {
    if (Result<std::shared_ptr<Server>> other = at(name); other) return other;
  }
  all_absent_.begin(opened.error(), begin_ms, kAllLetAlone, kAllLetAloneMinMs);
  return std::move(opened).error();
}

RedisPlace Nodes::place_at(const std::string& name) const {
  RedisPlace place = place_;
  place.socket.clear();
  place.hosts = {host_of(name)};
  return place;
}

Result<RedisPlace> Nodes::place_of_key(std::string_view key) {
  FQ_TRY_SET(const std::shared_ptr<Server> server, of_key(key));
  return server->name() == place_.socket ? place_ : place_at(server->name());
}

Result<std::shared_ptr<Server>> Nodes::at(const std::string& name) {
  Node& node = nodes_[name];
  if (std::shared_ptr<Server> server = connected(node)) return server;
  if (node.absence.lasts()) return *node.absence.fault;
  const int64_t begin_ms = system_clock().boot_ms();
  Result<std::unique_ptr<Server>> opened = Server::open(place_at(name), password_);
  if (!opened) {
    node.absence.begin(opened.error(), begin_ms, kLetAlone, kLetAloneMinMs);
    return std::move(opened).error();
  }
  node.server = std::move(opened).value();
  return node.server;
}

void Nodes::take_range(const Reply& range, const std::string& asked) {
  const int64_t first = range.at(0).number, last = range.at(1).number;
  const Reply& master = range.at(2);
  const std::string name = name_of(master.at(0).text, master.at(1).number, asked);
  if (first < 0 || last >= int64_t{kSlots} || first > last || name.empty()) return;
  const uint16_t owner = index_of(name);
  for (int64_t slot = first; slot <= last; ++slot) owner_.at(static_cast<size_t>(slot)) = owner;
}

std::set<std::string> Nodes::known_names() const {
  std::set<std::string> names(names_.begin(), names_.end());
  for (const RedisPlace::Host& host : place_.hosts) names.insert(name_of_host(host));
  return names;
}

/// What one that is cut off from the others says stays wrong for as long as that lasts: whoever was found
/// wrong is asked after all others. Those that are connected come first of the others, and one that takes its
/// time to be reached is the last that is tried.
Result<std::shared_ptr<Server>> Nodes::teller() {
  FQ_TRY_SET(std::shared_ptr<Server> met, any());
  std::set<std::string> names = known_names();
  for (auto& [name, node] : nodes_) {
    if (connected(node)) names.insert(name);
  }
  std::vector<std::tuple<uint64_t, bool, std::string>> order;
  for (const std::string& name : names) {
    Node& node = nodes_[name];
    order.emplace_back(node.doubted, connected(node) == nullptr, name);
  }
  std::sort(order.begin(), order.end());
  const int64_t begin_ms = system_clock().boot_ms();
  for (const auto& [doubted, is_away, name] : order) {
    if (Result<std::shared_ptr<Server>> server = at(name); server) return server;
    if (system_clock().boot_ms() - begin_ms > kLearnedMs) break;
  }
  return met;
}

void Nodes::doubt(const std::string& name) {
  if (const auto node = nodes_.find(name); node != nodes_.end()) node->second.doubted = ++doubts_;
}

void Nodes::doubt(const Server& owner) {
  forget();
  doubt(told_by_);
  if (owner.name() != told_by_) doubt(owner.name());
}

/// Of those that have no slot any more only the connected are kept: where addresses become others all the
/// time there would be ever more. One that has forgotten its cluster knows of nobody, and nobody goes for it.
void Nodes::take_slots(const Reply& ranges, const std::string& asked) {
  owner_.fill(0);
  if (!ranges.items.empty()) names_.clear();
  for (const Reply& range : ranges.items) take_range(range, asked);
  const std::set<std::string> known = known_names();
  std::erase_if(nodes_, [&](const auto& each) {
    return each.second.server == nullptr && !each.second.absence.lasts() && !known.contains(each.first);
  });
}

Result<void> Nodes::learn() {
  const int64_t now_ms = system_clock().boot_ms();
  if (is_known_ || now_ms < learned_ms_ + kLearnedMs) return {};
  FQ_TRY_SET(const std::shared_ptr<Server> server, teller());
  const std::string name = server->name();
  const std::array<std::string_view, 2> words = {"CLUSTER", "SLOTS"};
  Result<Reply> reply = server->call(words);
  if (!reply) {
    drop(server);
    return Error{ErrorKind::later, reply.error().text, 0, reply.error().passes};  // it changes nothing
  }
  told_by_ = name;
  if (reply->kind == Reply::Kind::error) {
    doubt(*server);
    return error_of_refusal(name, "CLUSTER SLOTS", reply->text);
  }
  take_slots(*reply, name);
  is_known_ = true;
  learned_ms_ = now_ms;
  return {};
}

/// One that has forgotten its cluster knows of nobody.
Result<void> Nodes::learn_masters() {
  const auto has_any = [&] {
    return std::any_of(owner_.begin(), owner_.end(), [](uint16_t owner) { return owner != 0; });
  };
  for (size_t others = known_names().size();; --others) {
    FQ_TRY(learn());
    if (has_any()) return {};
    forget(), doubt(told_by_);
    if (others == 0)
      return Error{ErrorKind::later, told_by_ + ": its cluster serves no slots; try again", 0, true};
    learned_ms_ = -kLearnedMs;
  }
}

/// Where it cannot be reached another may have taken over.
Result<std::shared_ptr<Server>> Nodes::owner_at(uint16_t owner) {
  Result<std::shared_ptr<Server>> found = at(names_[owner - 1]);
  if (!found) forget(), doubt(told_by_);
  return found;
}

Result<std::shared_ptr<Server>> Nodes::of_key(std::string_view key) {
  FQ_TRY_SET(const std::shared_ptr<Server> server, any());
  if (!is_cluster_) return server;
  FQ_TRY(learn());
  const uint16_t owner = owner_.at(slot_of(key));
  if (owner != 0) return owner_at(owner);
  forget(), doubt(told_by_);
  return Error{ErrorKind::later, server->name() + ": its cluster serves not all slots; try again", 0, true};
}

Result<void> Nodes::visit_masters(const std::function<Result<void>(Result<std::shared_ptr<Server>>)>& visit) {
  FQ_TRY_SET(const std::shared_ptr<Server> server, any());
  if (!is_cluster_) return visit(server);
  FQ_TRY(learn_masters());
  for (const uint16_t owner : std::set<uint16_t>(owner_.begin(), owner_.end())) {
    if (owner != 0) FQ_TRY(visit(owner_at(owner)));
  }
  return {};
}

Result<std::vector<std::shared_ptr<Server>>> Nodes::masters() {
  std::vector<std::shared_ptr<Server>> all;
  // Behind one that is away no others are waited for.
  FQ_TRY(visit_masters([&](Result<std::shared_ptr<Server>> found) -> Result<void> {
    FQ_TRY_SET(std::shared_ptr<Server> each, std::move(found));
    all.push_back(std::move(each));
    return {};
  }));
  return all;
}

Result<uint32_t> Nodes::unserved_slots() {
  FQ_TRY(any());
  if (!is_cluster_) return 0U;
  FQ_TRY(learn_masters());
  return static_cast<uint32_t>(std::count(owner_.begin(), owner_.end(), uint16_t{0}));
}

void Nodes::drop(const std::shared_ptr<Server>& server) {
  forget();
  for (auto& [name, node] : nodes_) {
    if (node.server == server) node.server.reset();
  }
}

void Nodes::note_moved(std::string_view refusal, const Server& by) {
  constexpr std::string_view kWord = "MOVED ";
  refusal.remove_prefix(std::min(refusal.size(), kWord.size()));
  const std::optional<uint64_t> slot = take_decimal(refusal);
  if (!slot || *slot >= kSlots || !refusal.starts_with(" ")) return forget();
  refusal.remove_prefix(1);
  const size_t colon = refusal.rfind(':');
  const RedisPlace::Host host = host_of(refusal);
  const std::string name =
      name_of(colon == 0 ? std::string_view() : std::string_view(host.name), host.port, by.name());
  if (name.empty()) return forget();
  owner_.at(*slot) = index_of(name);
}

}  // namespace fq
