-- records - how messages, nodes and sums lie in their keys. core/redis/records.h is its twin for messages, and
-- tests/redis/records_test holds both to the same bytes.
--
-- Within a schema a record only grows at its end. Times are the server's, in ms; 0: none.
local M = {}

M.READY, M.DELAYED, M.LEASED, M.HELD, M.DEAD = 0, 1, 2, 3, 4
local VERSION = 1

-- A message is a head of fixed size, its tenant and its sort key, and behind them what only the client reads.
-- So a change of the head is one SETRANGE, however long the payload is.
--   version, state, flags, bytes of the key; bytes of the tenant, attempts_max (0: the queue's), attempts,
--   attempts in force, crashes; deliveries, priority, bytes of the payload; pushed, timer, since, ttl, serial,
--   began; nonce
local HEAD = '<BBBBHHHHHI4i4I4ddddddc6'
M.HEAD_BYTES = 80
M.HEAD_AND_NAMES_BYTES = 80 + 255 + 64
M.FIFO = 1  -- flags: it was pushed while the order was fifo

function M.head(m)
  return struct.pack(HEAD, VERSION, m.state, m.flags, #m.key, #m.path, m.attempts_max, m.attempts, m.in_force,
    math.min(m.crashes, 65535), m.deliveries, m.priority, m.bytes, m.pushed, m.timer, m.since, m.ttl, m.serial,
    m.began, m.nonce)
end

function M.message(id, bytes)
  local m = {id = id}
  local version, key_bytes, path_bytes
  version, m.state, m.flags, key_bytes, path_bytes, m.attempts_max, m.attempts, m.in_force, m.crashes,
    m.deliveries, m.priority, m.bytes, m.pushed, m.timer, m.since, m.ttl, m.serial, m.began, m.nonce =
    struct.unpack(HEAD, bytes)
  m.path = string.sub(bytes, 81, 80 + path_bytes)
  m.key = string.sub(bytes, 81 + path_bytes, 80 + path_bytes + key_bytes)
  return m
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
  'buried', 'expired', 'cancelled', 'bytes'}
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
