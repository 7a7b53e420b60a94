-- records - how messages, nodes and sums lie in their keys. core/redis/records/records.h is its twin for messages, and
-- tests/redis/records_test holds both to the same bytes.
--
-- Within a schema a record only grows at its end. Times are the server's, in ms; 0: none.
local M = {}

M.READY, M.DELAYED, M.LEASED, M.HELD, M.DEAD = 0, 1, 2, 3, 4
M.ACKED, M.CANCELLED = 5, 6  -- ended, and still told of
M.ID_MAX = 9007199254740991  -- 2^53 - 1: behind it not every number is one here, and an id would not say its shard
local VERSION = 1

-- A message is a head of fixed size, its tenant and its sort key, and behind them what only the client reads.
-- So a change of the head is one SETRANGE, however long the payload is.
--   version, state; flags; bytes of the key; bytes of the tenant, attempts_max (0: the queue's), attempts,
--   attempts in force, crashes; deliveries, priority, bytes of the payload, the process that holds it; pushed,
--   timer, since, ttl, serial, began, how long it is told of after its end (-1: as the queue says); nonce; the expected run that
--   was charged, and the bytes of the path below which it was; bytes of what its steps have put out
local HEAD = '<BBHBHHHHHI4i4I4I4dddddddc11dHd'
M.HEAD_BYTES = 116
M.HEAD_AND_NAMES_END = (M.HEAD_BYTES + 255 + 64 - 1) .. ''  -- the last byte, as GETRANGE takes it
-- Flags, from the lowest bit on: pushed while the order was fifo; more is said of it in ties; its key is of --debounce; it
-- holds that key; it runs a command; it is held by living; somebody watches its lease; it has had steps; its job sleeps;
-- it is on its way to another queue; it is dead since it was not started in time; of what a step of it waited for last not all
-- were acked.
local function flags_of(m)
  return (m.fifo and 1 or 0) + (m.is_tied and 2 or 0) + (m.debounced and 4 or 0) + (m.holds_key and 8 or 0) +
    (m.is_command and 16 or 0) + (m.living and 32 or 0) + (m.watched and 64 or 0) + (m.stepped and 128 or 0) +
    (m.suspended and 256 or 0) + (m.leaving and 512 or 0) + (m.expired and 1024 or 0) +
    (m.wait_failed and 2048 or 0)
end
-- Few have any: what is not so is not set.
local function set_flags(m, flags)
  if flags % 2 >= 1 then m.fifo = true end
  if flags % 4 >= 2 then m.is_tied = true end
  if flags % 8 >= 4 then m.debounced = true end
  if flags % 16 >= 8 then m.holds_key = true end
  if flags % 32 >= 16 then m.is_command = true end
  if flags % 64 >= 32 then m.living = true end
  if flags % 128 >= 64 then m.watched = true end
  if flags % 256 >= 128 then m.stepped = true end
  if flags % 512 >= 256 then m.suspended = true end
  if flags % 1024 >= 512 then m.leaving = true end
  if flags % 2048 >= 1024 then m.expired = true end
  if flags % 4096 >= 2048 then m.wait_failed = true end
end

function M.head(m)
  return struct.pack(HEAD, VERSION, m.state, flags_of(m), #m.key, #m.path, m.attempts_max, m.attempts, m.in_force,
    math.min(m.crashes, 65535), m.deliveries, m.priority, m.bytes, m.pid, m.pushed, m.timer, m.since, m.ttl,
    m.serial, m.began, m.keep, m.nonce, m.ticks, m.top_bytes, m.step_bytes)
end

-- nil: these bytes are no message. A table that is made with all its fields is not grown field by field.
function M.message(id, bytes)
  if #bytes < M.HEAD_BYTES then return nil end
  local version, state, flags, key_bytes, path_bytes, attempts_max, attempts, in_force, crashes, deliveries, priority,
    payload_bytes, pid, pushed, timer, since, ttl, serial, began, keep, nonce, ticks, top_bytes, step_bytes =
    struct.unpack(HEAD, bytes)
  local path_end = M.HEAD_BYTES + path_bytes
  if version ~= VERSION or state > M.CANCELLED or path_end + key_bytes > #bytes then return nil end
  local m = {id = id, state = state, attempts_max = attempts_max, attempts = attempts, in_force = in_force, crashes = crashes,
    deliveries = deliveries, priority = priority, bytes = payload_bytes, pid = pid, pushed = pushed, timer = timer,
    since = since, ttl = ttl, serial = serial, began = began, keep = keep, nonce = nonce, ticks = ticks,
    top_bytes = top_bytes, step_bytes = step_bytes, path = string.sub(bytes, M.HEAD_BYTES + 1, path_end),
    key = key_bytes == 0 and '' or string.sub(bytes, path_end + 1, path_end + key_bytes)}
  if flags > 0 then set_flags(m, flags) end
  return m
end

-- Its id in decimal, and as a member of zsets; most calls ask more than once.
function M.name_of(m)
  local name = m.name
  if not name then
    name = text.num(m.id)
    m.name = name
  end
  return name
end
function M.member_of(m)
  local member = m.member
  if not member then
    member = struct.pack('>I8', m.id)
    m.member = member
  end
  return member
end

-- What ties a message to others, which few have: a key, and what it came after. They lie in a key of their own.
--   due and delay once it is let go (delay: -1: none); how long its key is held after the ack; the message that
--   it is held behind, and the one that is held behind it; its key; then of each that it came after: id,
--   whether any end will do (2: it waits only for its key), whether that has ended, and when it began to wait
local TIES = '<dddddH'
local TIES_BYTES = 42
local WAIT = '<dBBd'
local WAIT_BYTES = 18

function M.new_ties() return {due = 0, delay = -1, unique_for = 0, behind = 0, follower = 0, key = '', waits = {}} end

-- Where they are lost it is tied to nothing.
function M.ties(bytes)
  local t = M.new_ties()
  local key_bytes
  if not bytes or #bytes < TIES_BYTES then return t end
  t.due, t.delay, t.unique_for, t.behind, t.follower, key_bytes = struct.unpack(TIES, bytes)
  t.key = string.sub(bytes, TIES_BYTES + 1, TIES_BYTES + key_bytes)
  for at = TIES_BYTES + 1 + key_bytes, #bytes + 1 - WAIT_BYTES, WAIT_BYTES do
    local id, any, closed, began = struct.unpack(WAIT, bytes, at)
    t.waits[#t.waits + 1] = {id = id, any = any > 0, for_key = any == 2, closed = closed > 0, acked = closed == 2, began = began}
  end
  return t
end

function M.ties_bytes(t)
  local parts = {struct.pack(TIES, t.due, t.delay, t.unique_for, t.behind, t.follower, #t.key), t.key}
  for _, w in ipairs(t.waits) do
    parts[#parts + 1] = struct.pack(WAIT, w.id, w.for_key and 2 or w.any and 1 or 0, w.acked and 2 or w.closed and 1 or 0, w.began)
  end
  return table.concat(parts)
end

-- A node: version, flags; its seat among its siblings, then the one of its own messages below it, with the ticks
-- that a run takes and since when it gathers, if it does; of both seats the ticks that are expected of what runs; of the first its refund, see tree.lua. How many stand in its rings is read by glance.cpp, too. Behind
-- that what few have: limits, until when it starts nothing, the name of its pool; then the rules that it was held
-- against last, see rules.lua; then of each set of pools how many stand in that ring, see rings.lua.
local NODE = '<BBdddddddddddddddddd'
local NODE_BYTES = 146
local LIMITS = '<dddddddH'
local LIMITS_BYTES = 58
local SET = '<dH'
local SET_BYTES = 10
-- Flags, from the lowest bit on: it is seated; its own messages are; it is blocked; paused; more is said behind; its own
-- messages gather; it stands among those that have nothing to do, see idle.lua; it was held against rules.
local LIMITED, MET = 16, 128

-- Returns where it ends.
local function add_limits(n, bytes)
  local l, pool_bytes, from = limits.new(), nil, nil
  l.concurrency, l.rate_count, l.rate_span, l.burst, l.credit, l.credit_at, n.limited, pool_bytes, from =
    struct.unpack(LIMITS, bytes, NODE_BYTES + 1)
  n.limits = l
  if pool_bytes > 0 then n.pool = string.sub(bytes, from, from + pool_bytes - 1) end
  return from + pool_bytes
end

-- Those whose bytes begin there.
local function add_sets(n, bytes, at)
  while #bytes >= at + SET_BYTES - 1 do
    local count, set_bytes = struct.unpack(SET, bytes, at)
    at = at + SET_BYTES + set_bytes
    if at > #bytes + 1 then return end
    if count > 0 and set_bytes > 0 then
      n.sets = n.sets or {}
      n.sets[string.sub(bytes, at - set_bytes, at - 1)] = count
    end
  end
end
local function sets_bytes(n)
  if not n.sets then return '' end
  local parts = {}
  for set, count in pairs(n.sets) do parts[#parts + 1] = struct.pack(SET, count, #set) .. set end
  return table.concat(parts)
end

local function new_node(path)
  return {path = path, tag = 0, seq = 0, vtime = 0, joins = 0, run = 0, weight = 1000, kids = 0, idle = 0, expected = 0, refund = 0,
    limits = limits.USUAL, limited = 0, pool = '', rules = 0, is_new = true, is_stored = false, listed = false,
    own = {tag = 0, seq = 0, count = 0, run = 0, idle = 0, ticks = 0, since = 0, expected = 0, weight = 1000}}
end

function M.node(path, bytes)
  if not bytes or #bytes < NODE_BYTES then return new_node(path) end
  local is_limited = string.byte(bytes, 2) % (2 * LIMITED) >= LIMITED
  if is_limited and #bytes < NODE_BYTES + LIMITS_BYTES then return new_node(path) end
  local _, flags, tag, seq, vtime, joins, run, weight, kids, idle, own_tag, own_seq, count, own_run, own_idle, ticks, since,
    expected, own_expected, refund = struct.unpack(NODE, bytes)
  local n = {path = path, tag = tag, seq = seq, vtime = vtime, joins = joins, run = run, weight = weight, kids = kids,
    idle = idle, expected = expected, refund = refund, limits = limits.USUAL, limited = 0, pool = '', rules = 0, is_new = false, is_stored = true, listed = flags % 128 >= 64, seated = flags % 2 >= 1,
    blocked = flags % 8 >= 4, paused = flags % 16 >= 8,
    own = {tag = own_tag, seq = own_seq, count = count, run = own_run, idle = own_idle, ticks = ticks, since = since,
      expected = own_expected, weight = 1000, seated = flags % 4 >= 2, blocked = flags % 64 >= 32}}
  local at = is_limited and add_limits(n, bytes) or NODE_BYTES + 1
  if flags >= MET and #bytes >= at + 7 then n.rules, at = struct.unpack('<d', bytes, at) end
  add_sets(n, bytes, at)
  return n
end

function M.node_bytes(n)
  local own, l = n.own, n.limits
  local limited = not limits.is_usual(l) or n.limited > 0 or n.pool ~= ''
  local met = n.rules > 0
  local flags = (n.seated and 1 or 0) + (own.seated and 2 or 0) + (n.blocked and 4 or 0) + (n.paused and 8 or 0) +
    (limited and LIMITED or 0) + (own.blocked and 32 or 0) + (n.listed and 64 or 0) +
    (met and MET or 0)
  local head = struct.pack(NODE, VERSION, flags, n.tag, n.seq, n.vtime, n.joins, n.run, n.weight, n.kids, n.idle,
    own.tag, own.seq, own.count, own.run, own.idle, own.ticks, own.since,
    n.expected, own.expected, n.refund)
  if limited then
    head = head .. struct.pack(LIMITS, l.concurrency, l.rate_count, l.rate_span, l.burst, l.credit, l.credit_at, n.limited,
      #n.pool) .. n.pool
  end
  if met then head = head .. struct.pack('<d', n.rules) end
  return head .. sets_bytes(n)
end

-- What of a node stands in the rings by rank and by age: its stamps (-1: it never sat), its turns by rank since the last one
-- by age, and its entry among its siblings, with the stamp that it had then.
local RANKS = '<dddBBd'
function M.add_ranks(n, bytes)
  n.stamp, n.own.stamp, n.turns = -1, -1, 0
  if not bytes then return end
  local has_entry, score, at
  n.stamp, n.own.stamp, n.rank_stamp, n.turns, has_entry, score, at = struct.unpack(RANKS, bytes)
  if has_entry == 1 then n.rank = {score, string.sub(bytes, at)} end
end
function M.ranks_bytes(n)
  return struct.pack(RANKS, n.stamp, n.own.stamp, n.rank_stamp or -1, n.turns, n.rank and 1 or 0, n.rank and n.rank[1] or 0) ..
    (n.rank and n.rank[2] or '')
end

-- Why the last attempt failed: when, then as the client packs it: exit and signal with a byte before each that
-- says whether there is one, and two texts.
function M.failure(at, client_bytes) return struct.pack('<d', at) .. client_bytes end
function M.verdict_in(failure) return string.sub(failure, 9) end
function M.reason(reason) return struct.pack('<Bi4Bi4I4c0I4', 0, 0, 0, 0, #reason, reason, 0) end

-- What is counted of a queue, or of a tenant; of a tenant also what it was given lately, see sums.lua, and its times, see
-- recent_times.lua.
--   ready, delayed, leased, held, dead; pushed, popped, acked, retried, released, buried, expired, cancelled; bytes; returning
local SUMS = '<ddddddddddddddd'
local SUMS_BYTES = 120
local LATELY_BYTES = 16
local NOT_LATELY = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
M.STATES = {[0] = 'ready', 'delayed', 'leased', 'held', 'dead'}

function M.sums(bytes)
  if bytes and #bytes < SUMS_BYTES then bytes = nil end
  local ready, delayed, leased, held, dead, pushed, popped, acked, retried, released, buried, expired, cancelled, payloads,
    returning = struct.unpack(SUMS, bytes or string.rep('\0', SUMS_BYTES))
  local times_at = SUMS_BYTES + LATELY_BYTES + 1
  return {ready = ready, delayed = delayed, leased = leased, held = held, dead = dead, pushed = pushed, popped = popped,
    acked = acked, retried = retried, released = released, buried = buried, expired = expired, cancelled = cancelled,
    bytes = payloads, returning = returning,
    lately = bytes and #bytes >= times_at - 1 and string.sub(bytes, SUMS_BYTES + 1, times_at - 1) or NOT_LATELY,
    times = bytes and string.sub(bytes, times_at) or ''}
end

function M.sums_bytes(s)
  return struct.pack(SUMS, s.ready, s.delayed, s.leased, s.held, s.dead, s.pushed, s.popped, s.acked, s.retried,
    s.released, s.buried, s.expired, s.cancelled, s.bytes, s.returning)
end

function M.tenant_sums_bytes(s) return M.sums_bytes(s) .. s.lately .. s.times end

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
