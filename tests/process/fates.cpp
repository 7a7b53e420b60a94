// fates - see the header.
#include "tests/process/fates.h"

// System.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fq::test {

namespace {

constexpr int kLimitMs = 20'000;

std::string shortened(const std::string& payload) { return "'" + payload.substr(0, 12) + "'"; }

}  // namespace

Result<std::unique_ptr<Queue>> open_at(const std::string& spool) {
  OpenOptions options;
  options.create = true;
  return open_queue({spool, "default"}, options);
}

std::string fault_of(const std::string& spool, const Fates& then, const Fates& in_all) {
  const auto queue = open_at(spool);
  if (!queue.ok()) return "cannot be opened: " + queue.error().text;
  for (const std::string& notice : (*queue)->take_notices()) return "called damage: " + notice;
  std::set<std::string> there;
  Cursor from;
  do {
    const Result<MessagePage> page = (*queue)->peek(Filter{}, from, 1000);
    if (!page.ok()) return "peek: " + page.error().text;
    for (const MessageInfo& each : page->messages) {
      const std::string payload = each.payload.value_or("(none)");
      if (!there.insert(payload).second) return "there twice: " + shortened(payload);
      if (in_all.count(payload) == 0) return "never pushed: " + shortened(payload);
    }
    from = page->next;
  } while (!from.text.empty());
  for (const auto& [payload, fate] : then) {
    const bool is_there = there.count(payload) != 0;
    if (fate.acked && is_there) return "came back: " + shortened(payload);
    if (fate.accepted && !in_all.at(payload).acking && !is_there) return "lost: " + shortened(payload);
  }
  const Result<CheckReport> report = (*queue)->check();
  if (!report.ok()) return "check: " + report.error().text;
  return report->findings.empty() ? std::string() : "check: " + report->findings.lines.front();
}

std::string push_one(const std::string& spool, const std::string& payload, Book& book) {
  book.sent(payload);
  const auto queue = open_at(spool);
  if (!queue.ok()) return "cannot be opened: " + queue.error().text;
  NewMessage message{.payload = as_bytes(payload)};
  const Result<PushReply> reply = (*queue)->push({&message, 1});
  if (!reply.ok()) return "push: " + reply.error().text;
  if (reply->error) return "push: " + reply->error->text;
  book.note(payload, &Fate::accepted);
  return {};
}

Ruling in_own_process(const std::function<Ruling(const std::string& directory)>& attempt) {
  const Spool scratch;
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    const Ruling verdict = attempt(scratch.directory());
    const std::string text =
        std::to_string(verdict.failures) + " " + std::to_string(verdict.refused) + " " + verdict.wrong;
    ::_exit(::write(pipe[1], text.data(), text.size()) == ssize_t(text.size()) ? 0 : 1);
  }
  ::close(pipe[1]);
  pollfd said{pipe[0], POLLIN, 0};
  const bool hung = ::poll(&said, 1, kLimitMs) == 0;
  if (hung) ::kill(pid, SIGKILL);
  char text[4096];
  const ssize_t got = hung ? 0 : ::read(pipe[0], text, sizeof text);
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  Ruling verdict;
  if (got <= 0) verdict.wrong = hung ? "hung" : "ended with status " + std::to_string(status);
  if (got <= 0) return verdict;
  std::istringstream line(std::string(text, static_cast<size_t>(got)));
  line >> verdict.failures >> verdict.refused;
  std::getline(line >> std::ws, verdict.wrong);
  const char* keep = std::getenv("FQ_KEEP");
  if (!verdict.wrong.empty() && keep != nullptr && !std::filesystem::exists(keep)) {
    std::filesystem::copy(scratch.directory(), keep, std::filesystem::copy_options::recursive);
  }
  return verdict;
}

}  // namespace fq::test
