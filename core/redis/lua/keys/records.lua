-- records - how messages, nodes and sums lie in their keys. core/redis/records/records.h is its twin for messages, and
-- tests/redis/records_test holds both to the same bytes.
--
-- Within a schema a record only grows at its end. Times are the server's, in ms; 0: none.
local M = {}

M.READY, M.DELAYED, M.LEASED, M.HELD, M.DEAD = 0, 1, 2, 3, 4
M.ACKED, M.CANCELLED = 5, 6  -- ended, and still told of
local VERSION = 1

-- A message is a head of fixed size, its tenant and its sort key, and behind them what only the client reads.
-- So a change of the head is one SETRANGE, however long the payload is.
--   version, state; flags; bytes of the key; bytes of the tenant, attempts_max (0: the queue's), attempts,
--   attempts in force, crashes; deliveries, priority, bytes of the payload, the process that holds it; pushed,
--   timer, since, ttl, serial, began, how long it is told of after its end (-1: as the queue says); nonce; the expected run that
--   was charged, and the bytes of the path below which it was; bytes of what its steps have put out
local HEAD = '<BBHBHHHHHI4i4I4I4dddddddc6dHd'
M.HEAD_BYTES = 111
M.HEAD_AND_NAMES_BYTES = 111 + 255 + 64
-- Flags: pushed while the order was fifo; more is said of it in ties; its key is of --debounce; it holds that key;
-- it runs a command; it is held by living; somebody watches its lease; it has had steps; its job sleeps; it is on its way
-- to another queue.
local FLAGS = {fifo = 1, is_tied = 2, debounced = 4, holds_key = 8, is_command = 16, living = 32, watched = 64, stepped = 128,
  suspended = 256, leaving = 512}

local function flags_of(m)
  local flags = 0
  for name, bit in pairs(FLAGS) do
    if m[name] then flags = flags + bit end
  end
  return flags
end
local function has(flags, bit) return math.floor(flags / bit) % 2 == 1 end
local function set_flags(m, flags)
  for name, bit in pairs(FLAGS) do m[name] = has(flags, bit) end
end

function M.head(m)
  return struct.pack(HEAD, VERSION, m.state, flags_of(m), #m.key, #m.path, m.attempts_max, m.attempts, m.in_force,
    math.min(m.crashes, 65535), m.deliveries, m.priority, m.bytes, m.pid, m.pushed, m.timer, m.since, m.ttl,
    m.serial, m.began, m.keep, m.nonce, m.ticks, m.top_bytes, m.step_bytes)
end

function M.message(id, bytes)
  local m = {id = id}
  local version, flags, key_bytes, path_bytes
  version, m.state, flags, key_bytes, path_bytes, m.attempts_max, m.attempts, m.in_force, m.crashes,
    m.deliveries, m.priority, m.bytes, m.pid, m.pushed, m.timer, m.since, m.ttl, m.serial, m.began, m.keep, m.nonce,
    m.ticks, m.top_bytes, m.step_bytes =
    struct.unpack(HEAD, bytes)
  m.path = string.sub(bytes, M.HEAD_BYTES + 1, M.HEAD_BYTES + path_bytes)
  m.key = string.sub(bytes, M.HEAD_BYTES + 1 + path_bytes, M.HEAD_BYTES + path_bytes + key_bytes)
  set_flags(m, flags)
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

-- A node: version, flags; its seat among its siblings, then the one of its own messages below it, with the ticks
-- that a run takes and since when it gathers, if it does. Behind that what
-- few have: limits, until when it starts nothing, the name of its pool.
local NODE = '<BBddddddddddddddd'
local NODE_BYTES = 122
local LIMITS = '<dddddddH'
local SEATED, OWN_SEATED, BLOCKED, PAUSED, LIMITED, GATHERS = 1, 2, 4, 8, 16, 32

function M.node(path, bytes)
  local n = {path = path, tag = 0, seq = 0, vtime = 0, joins = 0, run = 0, weight = 1000, kids = 0, idle = 0,
    limits = limits.new(), limited = 0, pool = '',
    own = {tag = 0, seq = 0, count = 0, run = 0, idle = 0, ticks = 0, since = 0, weight = 1000}}
  n.is_new = not bytes
  if n.is_new then return n end
  local own, version, flags = n.own, nil, nil
  version, flags, n.tag, n.seq, n.vtime, n.joins, n.run, n.weight, n.kids, n.idle,
    own.tag, own.seq, own.count, own.run, own.idle, own.ticks, own.since = struct.unpack(NODE, bytes)
  n.seated, own.seated, n.blocked, n.paused = has(flags, SEATED), has(flags, OWN_SEATED), has(flags, BLOCKED),
    has(flags, PAUSED)
  own.blocked = has(flags, GATHERS)
  if not has(flags, LIMITED) then return n end
  local l, pool_bytes = n.limits, nil
  l.concurrency, l.rate_count, l.rate_span, l.burst, l.credit, l.credit_at, n.limited, pool_bytes =
    struct.unpack(LIMITS, bytes, NODE_BYTES + 1)
  n.pool = string.sub(bytes, -pool_bytes)
  if pool_bytes == 0 then n.pool = '' end
  return n
end

function M.node_bytes(n)
  local own, l = n.own, n.limits
  local limited = not limits.is_usual(l) or n.limited > 0 or n.pool ~= ''
  local flags = (n.seated and SEATED or 0) + (own.seated and OWN_SEATED or 0) + (n.blocked and BLOCKED or 0) +
    (n.paused and PAUSED or 0) + (limited and LIMITED or 0) + (own.blocked and GATHERS or 0)
  local head = struct.pack(NODE, VERSION, flags, n.tag, n.seq, n.vtime, n.joins, n.run, n.weight, n.kids, n.idle,
    own.tag, own.seq, own.count, own.run, own.idle, own.ticks, own.since)
  if not limited then return head end
  return head .. struct.pack(LIMITS, l.concurrency, l.rate_count, l.rate_span, l.burst, l.credit, l.credit_at, n.limited,
    #n.pool) .. n.pool
end

-- What of a node stands in the rings by rank and by age: its stamps (-1: it never sat), and its entry among its
-- siblings, with the stamp that it had then.
local RANKS = '<dddBd'
function M.add_ranks(n, bytes)
  n.stamp, n.own.stamp = -1, -1
  if not bytes then return end
  local has_entry, score, at
  n.stamp, n.own.stamp, n.rank_stamp, has_entry, score, at = struct.unpack(RANKS, bytes)
  if has_entry == 1 then n.rank = {score, string.sub(bytes, at)} end
end
function M.ranks_bytes(n)
  return struct.pack(RANKS, n.stamp, n.own.stamp, n.rank_stamp or -1, n.rank and 1 or 0, n.rank and n.rank[1] or 0) ..
    (n.rank and n.rank[2] or '')
end

-- Why the last attempt failed: when, then as the client packs it: exit and signal with a byte before each that
-- says whether there is one, and two texts.
function M.failure(at, client_bytes) return struct.pack('<d', at) .. client_bytes end
function M.reason(reason) return struct.pack('<Bi4Bi4I4c0I4', 0, 0, 0, 0, #reason, reason, 0) end

-- What is counted of a queue, or of a tenant; of a tenant also what it was given lately, see sums.lua.
local SUMS = {'ready', 'delayed', 'leased', 'held', 'dead', 'pushed', 'popped', 'acked', 'retried', 'released',
  'buried', 'expired', 'cancelled', 'bytes', 'returning'}
M.STATES = {[0] = 'ready', 'delayed', 'leased', 'held', 'dead'}

function M.sums(bytes)
  local sums = {}
  for i, name in ipairs(SUMS) do sums[name] = bytes and struct.unpack('<d', bytes, 8 * i - 7) or 0 end
  if bytes and #bytes > 8 * #SUMS then sums.lately = string.sub(bytes, 8 * #SUMS + 1) end
  return sums
end

function M.sums_bytes(sums)
  local parts = {}
  for i, name in ipairs(SUMS) do parts[i] = struct.pack('<d', sums[name]) end
  parts[#parts + 1] = sums.lately
  return table.concat(parts)
end

-- One layer of a policy: of each value PolicyKey, number, second, text.
function M.add_policy(values, bytes)
  local at = 1
  while at <= #bytes do
    local key, number, second, text_bytes, from = struct.unpack('<BddH', bytes, at)
    values[key] = {number, second, string.sub(bytes, from, from + text_bytes - 1)}
    at = from + text_bytes
  end
  return values
end

function M.policy_bytes(values)
  local parts = {}
  for key, value in pairs(values) do
    parts[#parts + 1] = struct.pack('<BddH', key, value[1], value[2], #value[3]) .. value[3]
  end
  return table.concat(parts)
end

return M
