-- records - how messages, nodes and sums lie in their keys. core/redis/records.h is its twin for messages, and
-- tests/redis/records_test holds both to the same bytes.
--
-- Within a schema a record only grows at its end. Times are the server's, in ms; 0: none.
local M = {}

M.READY, M.DELAYED, M.LEASED, M.HELD, M.DEAD = 0, 1, 2, 3, 4
local VERSION = 1

-- A message is a head of fixed size, its tenant and its sort key, and behind them what only the client reads.
-- So a change of the head is one SETRANGE, however long the payload is.
--   version, state; flags; bytes of the key; bytes of the tenant, attempts_max (0: the queue's), attempts,
--   attempts in force, crashes; deliveries, priority, bytes of the payload; pushed, timer, since, ttl, serial,
--   began; nonce
local HEAD = '<BBHBHHHHHI4i4I4ddddddc6'
M.HEAD_BYTES = 81
M.HEAD_AND_NAMES_BYTES = 81 + 255 + 64
-- flags: pushed while the order was fifo; more is said of it in ties; its key is of --debounce; it holds that key
M.FIFO, M.TIED, M.DEBOUNCED, M.HOLDS_KEY = 1, 2, 4, 8
local function has(flags, bit) return math.floor(flags / bit) % 2 == 1 end

function M.head(m)
  local flags = (m.fifo and M.FIFO or 0) + (m.ties and M.TIED or 0) + (m.debounced and M.DEBOUNCED or 0) +
    (m.holds_key and M.HOLDS_KEY or 0)
  return struct.pack(HEAD, VERSION, m.state, flags, #m.key, #m.path, m.attempts_max, m.attempts, m.in_force,
    math.min(m.crashes, 65535), m.deliveries, m.priority, m.bytes, m.pushed, m.timer, m.since, m.ttl, m.serial,
    m.began, m.nonce)
end

function M.message(id, bytes)
  local m = {id = id}
  local version, flags, key_bytes, path_bytes
  version, m.state, flags, key_bytes, path_bytes, m.attempts_max, m.attempts, m.in_force, m.crashes,
    m.deliveries, m.priority, m.bytes, m.pushed, m.timer, m.since, m.ttl, m.serial, m.began, m.nonce =
    struct.unpack(HEAD, bytes)
  m.path = string.sub(bytes, 82, 81 + path_bytes)
  m.key = string.sub(bytes, 82 + path_bytes, 81 + path_bytes + key_bytes)
  m.fifo, m.is_tied = has(flags, M.FIFO), has(flags, M.TIED)
  m.debounced, m.holds_key = has(flags, M.DEBOUNCED), has(flags, M.HOLDS_KEY)
  return m
end

-- What ties a message to others, which few have: a key, and what it came after. They lie in a key of their own.
--   due and delay once it is let go (delay: -1: none); how long its key is held after the ack; the message that
--   it is held behind, and the one that is held behind it; its key; then of each that it came after: id,
--   whether any end will do (2: it waits only for its key), whether that has ended, and when it began to wait
local TIES = '<dddddH'
local WAIT = '<dBBd'
local WAIT_BYTES = 18

function M.new_ties() return {due = 0, delay = -1, unique_for = 0, behind = 0, follower = 0, key = '', waits = {}} end

function M.ties(bytes)
  local t = M.new_ties()
  local key_bytes
  t.due, t.delay, t.unique_for, t.behind, t.follower, key_bytes = struct.unpack(TIES, bytes)
  t.key = string.sub(bytes, 43, 42 + key_bytes)
  for at = 43 + key_bytes, #bytes, WAIT_BYTES do
    local id, any, closed, began = struct.unpack(WAIT, bytes, at)
    t.waits[#t.waits + 1] = {id = id, any = any > 0, for_key = any == 2, closed = closed == 1, began = began}
  end
  return t
end

function M.ties_bytes(t)
  local parts = {struct.pack(TIES, t.due, t.delay, t.unique_for, t.behind, t.follower, #t.key), t.key}
  for _, w in ipairs(t.waits) do
    parts[#parts + 1] = struct.pack(WAIT, w.id, w.for_key and 2 or w.any and 1 or 0, w.closed and 1 or 0, w.began)
  end
  return table.concat(parts)
end

-- A node: version, who sits; its seat among its siblings, then the one of its own messages below it.
local NODE = '<BBddddddddddddd'

function M.node(path, bytes)
  local n = {path = path, tag = 0, seq = 0, vtime = 0, joins = 0, run = 0, weight = 1000, kids = 0, idle = 0,
    seated = false, own = {tag = 0, seq = 0, count = 0, run = 0, idle = 0, weight = 1000, seated = false}}
  if not bytes then return n end
  local own, version, sits = n.own, nil, nil
  version, sits, n.tag, n.seq, n.vtime, n.joins, n.run, n.weight, n.kids, n.idle,
    own.tag, own.seq, own.count, own.run, own.idle = struct.unpack(NODE, bytes)
  n.seated, own.seated = sits % 2 == 1, sits >= 2
  return n
end

function M.node_bytes(n)
  local own = n.own
  return struct.pack(NODE, VERSION, (n.seated and 1 or 0) + (own.seated and 2 or 0), n.tag, n.seq, n.vtime,
    n.joins, n.run, n.weight, n.kids, n.idle, own.tag, own.seq, own.count, own.run, own.idle)
end

-- Why the last attempt failed: when, then as the client packs it: exit and signal with a byte before each that
-- says whether there is one, and two texts.
function M.failure(at, client_bytes) return struct.pack('<d', at) .. client_bytes end
function M.reason(reason) return struct.pack('<Bi4Bi4I4c0I4', 0, 0, 0, 0, #reason, reason, 0) end

-- What is counted of a queue.
local SUMS = {'ready', 'delayed', 'leased', 'held', 'dead', 'pushed', 'popped', 'acked', 'retried', 'released',
  'buried', 'expired', 'cancelled', 'bytes', 'returning'}
M.STATES = {[0] = 'ready', 'delayed', 'leased', 'held', 'dead'}

function M.sums(bytes)
  local sums = {}
  for i, name in ipairs(SUMS) do sums[name] = bytes and struct.unpack('<d', bytes, 8 * i - 7) or 0 end
  return sums
end

function M.sums_bytes(sums)
  local parts = {}
  for i, name in ipairs(SUMS) do parts[i] = struct.pack('<d', sums[name]) end
  return table.concat(parts)
end

-- One layer of a policy: PolicyKey, number, second.
function M.add_policy(values, bytes)
  for at = 1, #bytes, 17 do
    local key, number, second = struct.unpack('<Bdd', bytes, at)
    values[key] = {number, second}
  end
end

function M.policy_bytes(values)
  local parts = {}
  for key, value in pairs(values) do parts[#parts + 1] = struct.pack('<Bdd', key, value[1], value[2]) end
  return table.concat(parts)
end

return M
