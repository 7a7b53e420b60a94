// sqlite_peer - the strongest persistent peer in one process: WAL, synchronous=NORMAL, prepared statements.
//
// First in, first out over one table, which is its quickest form and not a fair one.
#include "tests/bench/bench.h"

#ifdef FQ_HAVE_SQLITE

// System.
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace fq::bench {

namespace {

class SqlitePeer final : public Peer {
 public:
  explicit SqlitePeer(const std::string& file) {
    for (const char* tail : {"", "-wal", "-shm"}) std::filesystem::remove(file + tail);
    check(::sqlite3_open(file.c_str(), &database_));
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=NORMAL");
    run("CREATE TABLE queue(id INTEGER PRIMARY KEY, tenant TEXT, leased INTEGER, payload BLOB)");
    push_ = prepare("INSERT INTO queue(tenant, leased, payload) VALUES(?, 0, ?)");
    take_ = prepare("SELECT id, tenant, payload FROM queue WHERE id > ? ORDER BY id LIMIT 1");
    lease_ = prepare("UPDATE queue SET leased = 1 WHERE id = ?");
    ack_ = prepare("DELETE FROM queue WHERE id = ?");
  }
  ~SqlitePeer() override {
    for (sqlite3_stmt* each : {push_, take_, lease_, ack_}) ::sqlite3_finalize(each);
    ::sqlite3_close(database_);
  }

  void push(size_t count, size_t batch) override {
    const std::string payload = payload_of(64);
    for (size_t done = 0; done < count; done += batch) {
      if (batch > 1) run("BEGIN IMMEDIATE");
      for (size_t i = 0; i < batch; ++i) {
        const std::string& tenant = tenants()[(done + i) % tenants().size()];
        ::sqlite3_bind_text(push_, 1, tenant.data(), static_cast<int>(tenant.size()), nullptr);
        ::sqlite3_bind_blob(push_, 2, payload.data(), static_cast<int>(payload.size()), nullptr);
        step(push_);
      }
      if (batch > 1) run("COMMIT");
    }
  }

  void take_and_ack(size_t count, size_t batch) override {
    std::vector<int64_t> ids;
    for (size_t done = 0; done < count; done += batch) {
      ids.clear();
      if (batch > 1) run("BEGIN IMMEDIATE");
      for (size_t i = 0; i < batch; ++i) ids.push_back(lease_one());
      if (batch > 1) run("COMMIT");
      if (batch > 1) run("BEGIN IMMEDIATE");
      for (const int64_t id : ids) {
        ::sqlite3_bind_int64(ack_, 1, id);
        step(ack_);
      }
      if (batch > 1) run("COMMIT");
    }
  }

 private:
  static void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    std::fprintf(stderr, "fq_bench: sqlite: %s\n", ::sqlite3_errstr(code));
    std::_Exit(1);
  }
  void run(const char* text) { check(::sqlite3_exec(database_, text, nullptr, nullptr, nullptr)); }
  sqlite3_stmt* prepare(const char* text) {
    sqlite3_stmt* statement = nullptr;
    check(::sqlite3_prepare_v2(database_, text, -1, &statement, nullptr));
    return statement;
  }
  static void step(sqlite3_stmt* statement) {
    check(::sqlite3_step(statement));
    ::sqlite3_reset(statement);
  }

  int64_t lease_one() {
    ::sqlite3_bind_int64(take_, 1, last_);
    check(::sqlite3_step(take_));
    const int64_t id = ::sqlite3_column_int64(take_, 0);
    const auto* bytes = static_cast<const char*>(::sqlite3_column_blob(take_, 2));
    payload_.assign(bytes, static_cast<size_t>(::sqlite3_column_bytes(take_, 2)));
    ::sqlite3_reset(take_);
    ::sqlite3_bind_int64(lease_, 1, id);
    step(lease_);
    last_ = id;
    return id;
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* push_ = nullptr;
  sqlite3_stmt* take_ = nullptr;
  sqlite3_stmt* lease_ = nullptr;
  sqlite3_stmt* ack_ = nullptr;
  int64_t last_ = 0;  // taken; what comes back is not looked for here
  std::string payload_;
};

}  // namespace

std::unique_ptr<Peer> open_peer(const std::string& file) { return std::make_unique<SqlitePeer>(file); }

}  // namespace fq::bench

#else

namespace fq::bench {

std::unique_ptr<Peer> open_peer(const std::string&) { return nullptr; }

}  // namespace fq::bench

#endif
