// settings - the policy of one queue, after all layers were put together, and where it came from.
#pragma once

// System.
#include <cstdint>

namespace fq {

enum class Order : uint32_t { priority, fifo, key };
enum class SyncMode : uint32_t { always, lazy };

struct Settings {
  Order order = Order::priority;
  SyncMode sync = SyncMode::always;
  int64_t lease_ms = 60'000;
  uint32_t attempts_max = 5;
  uint64_t payload_bytes_max = uint64_t{1} << 30;
  int64_t lock_timeout_ms = 5'000;
  int64_t timeout_ms = 0;  // of a run in a worker; 0: none
  int64_t backoff_base_ms = 5'000;
  int64_t backoff_max_ms = 3'600'000;
  int64_t retention_ms = 0;  // of records and outputs, after the end; 0: none

  bool operator==(const Settings&) const = default;
};

/// Tells one state of the policy file from another without reading it. All zero: there is no file.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t changed_ns = 0;  // ctime: a file put in place by rename keeps its mtime
  int64_t modified_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};

}  // namespace fq
