-- messages - the life of one: where it stands, and what moves it from there.
local M = {}
local READY, DELAYED, LEASED, DEAD = records.READY, records.DELAYED, records.LEASED, records.DEAD
local KEYED = -1099511627776  -- before every priority

-- Its place among the ready ones of its tenant: {score, member}. Keys go first, then priorities, then ids.
local function place_of(m)
  local id = struct.pack('>I8', m.id)
  if m.flags % 2 == records.FIFO then return 0, '\255' .. id end
  if m.key == '' then return 0 - m.priority, '\255' .. id end
  local rank = struct.pack('>I4', 2147483647 - m.priority)
  return KEYED, '\1' .. string.gsub(m.key, '%z', '\0\255') .. '\0\0' .. rank .. id
end
local function order_of(member)
  if string.byte(member) == 255 then return (struct.unpack('>I8', member, 2)) end
end
local function id_of(member) return (struct.unpack('>I8', member, #member - 7)) end
local function no_order() return nil end

local function queue_of(call, path)
  local queue = call.queues[path]
  if not queue then
    queue = view.open(call.tag .. 'q:' .. path, order_of)
    call.queues[path] = queue
  end
  return queue
end
function M.timers(call)
  call.timers = call.timers or view.open(call.tag .. 't', no_order)
  return call.timers
end
local function graves(call)
  call.graves = call.graves or view.open(call.tag .. 'd', no_order)
  return call.graves
end
-- Ids as members: equal times go by id.
local function name_of(id) return struct.pack('>I8', id) end

-- nil: there is none.
function M.find(call, id)
  local m = call.messages[id]
  if m == nil then
    local key = call.tag .. 'm:' .. text.num(id)
    local bytes = redis.call('GETRANGE', key, 0, records.HEAD_AND_NAMES_BYTES - 1)
    m = bytes ~= '' and records.message(id, bytes) or false
    call.messages[id] = m
  end
  return m and not m.gone and m or nil
end

local function set_timer(call, m, due)
  if m.timer ~= 0 then view.take(M.timers(call), name_of(m.id)) end
  m.timer = due or 0
  if due then view.put(M.timers(call), due, name_of(m.id)) end
end

-- Out of where it stands, into `state`, with a timer or without; `at`: when that was.
local function move(call, m, state, due, at)
  local before = m.state
  m.changed = true
  if before then
    call.sums[records.STATES[before]] = call.sums[records.STATES[before]] - 1
    local n = tree.node(call, m.path)
    if before == READY then
      local _, member = place_of(m)
      view.take(queue_of(call, m.path), member)
      tree.unready(call, n, at)
    end
    if before == LEASED then tree.ended(call, n, call.now) end
    if before == DEAD then view.take(graves(call), name_of(m.id)) end
  end
  set_timer(call, m, due)
  m.state = state
  if not state then return end
  call.sums[records.STATES[state]] = call.sums[records.STATES[state]] + 1
  if state == READY or state == DEAD then m.since = at end
  if state == READY then
    view.put(queue_of(call, m.path), place_of(m))
    tree.ready(call, tree.node(call, m.path), at)
  end
  if state == DEAD then view.put(graves(call), at, name_of(m.id)) end
end

local function make_ready(call, m, at) move(call, m, READY, m.ttl > 0 and at + m.ttl or nil, at) end

local function come_back(call, m, delay)
  if delay > 0 then move(call, m, DELAYED, call.now + delay, call.now) else make_ready(call, m, call.now) end
end

local function count(call, what) call.sums[what] = call.sums[what] + 1 end

-- It has ended and leaves nothing but that.
local function finish(call, m, what)
  move(call, m, nil, nil, call.now)
  m.gone = true
  count(call, what)
  call.sums.bytes = call.sums.bytes - m.bytes
  call.outcomes[#call.outcomes + 1] = {m.id, struct.pack('<Bd', what == 'acked' and 1 or 2, call.now) .. m.path}
end

local function bury(call, m, what, at)
  move(call, m, DEAD, nil, at)
  count(call, what)
end

local function attempts_max(call, m)
  if m.attempts_max ~= 0 then return m.attempts_max end
  return m.in_force ~= 0 and m.in_force or call.settings.attempts
end

-- True: that was the last one, and it is dead.
local function attempt_failed(call, m, delay)
  m.attempts = m.attempts + 1
  if m.attempts >= attempts_max(call, m) then
    bury(call, m, 'buried', call.now)
    return true
  end
  come_back(call, m, delay)
  return false
end

-- A new one, with what the client has packed of it.
function M.add(call, path, fields, key, rest)
  local m = {id = call.n + 1, flags = call.settings.fifo and records.FIFO or 0, key = key, path = path, attempts = 0,
    in_force = 0, crashes = 0, deliveries = 0, pushed = call.now, timer = 0, since = 0, serial = 0, began = 0,
    nonce = '      ', rest = rest, changed = true}
  local delay, at
  m.priority, m.attempts_max, m.bytes, m.ttl, delay, at = struct.unpack('<i4HI4ddd', fields)
  call.n = m.id
  call.messages[m.id] = m
  call.sums.bytes = call.sums.bytes + m.bytes
  count(call, 'pushed')
  come_back(call, m, at > 0 and at - call.now or delay)
  return m.id
end

-- The first of a node's own messages, which is not taken yet.
function M.first_of(call, n)
  local first = view.first(queue_of(call, n.path))
  return M.find(call, id_of(first[2]))
end

-- It has its turn. Nothing starts: for who looks ahead.
function M.pass_over(call, m, n, top)
  local _, member = place_of(m)
  view.take(queue_of(call, n.path), member)
  tree.charge(call, n, top)
end

-- It is delivered: until `due`, to the client with that nonce.
function M.lease(call, m, n, top, due, nonce, in_force)
  M.pass_over(call, m, n, top)
  tree.started(call, n)
  call.sums.ready = call.sums.ready - 1
  call.sums.leased = call.sums.leased + 1
  count(call, 'popped')
  set_timer(call, m, due)
  call.serial = call.serial + 1
  m.state, m.serial, m.nonce, m.began, m.ttl, m.in_force = LEASED, call.serial, nonce, call.now, 0, in_force
  m.deliveries = m.deliveries + 1
  m.changed = true
end

-- Whose lease this is, or nil and why there is none.
function M.held_by(call, id, serial, nonce)
  local m = M.find(call, id)
  if m and m.state == LEASED and m.serial == serial and m.nonce == nonce then return m end
  return nil, (m or redis.call('HEXISTS', call.tag .. 'o', text.num(id)) == 1) and 'stale' or 'gone'
end

-- verdict: 0 ack, 1 retry, 2 release, 3 bury, as in core/api/queue.h.
function M.judge(call, m, verdict, delay, failure)
  if verdict == 0 then
    finish(call, m, 'acked')
  elseif verdict == 2 then
    come_back(call, m, delay)
    count(call, 'released')
  else
    m.failure = records.failure(call.now, failure)
    if verdict == 3 then
      bury(call, m, 'buried', call.now)
    elseif attempt_failed(call, m, delay) then
      return 'buried'
    else
      count(call, 'retried')
    end
  end
  return 'ok'
end

function M.extend(call, m, duration)
  m.changed = true
  set_timer(call, m, call.now + duration)
end

function M.cancel(call, m) finish(call, m, 'cancelled') end

function M.kick(call, m)
  m.attempts, m.crashes, m.ttl = 0, 0, 0
  make_ready(call, m, call.now)
end

-- What is due first happens, as of when it was due.
function M.fire(call, due, member)
  local m = M.find(call, id_of(member))
  if not m then  -- a timer of nobody must not stop all others
    view.take(M.timers(call), member)
  elseif m.state == DELAYED then
    make_ready(call, m, due)
  elseif m.state == READY then
    m.failure = records.failure(call.now, records.reason('expired'))
    bury(call, m, 'expired', due)
  elseif call.now < call.grace then
    m.changed = true
    set_timer(call, m, call.grace)
  else
    m.crashes = m.crashes + 1
    attempt_failed(call, m, 0)
  end
end

local OUTCOMES = 65536
local function write_outcomes(call)
  for _, outcome in ipairs(call.outcomes) do
    local id = text.num(outcome[1])
    redis.call('HSET', call.tag .. 'o', id, outcome[2])
    if redis.call('RPUSH', call.tag .. 'ol', id) > OUTCOMES then
      redis.call('HDEL', call.tag .. 'o', redis.call('LPOP', call.tag .. 'ol'))
    end
  end
end

function M.write(call)
  for id, m in pairs(call.messages) do
    if m and m.changed then
      local name = text.num(id)
      local key = call.tag .. 'm:' .. name
      if m.gone then
        redis.call('UNLINK', key, call.tag .. 'f:' .. name)
      elseif m.rest then
        redis.call('SET', key, records.head(m) .. m.path .. m.key .. m.rest)
      else
        redis.call('SETRANGE', key, 0, records.head(m))
      end
      if m.failure and not m.gone then redis.call('SET', call.tag .. 'f:' .. name, m.failure) end
    end
  end
  for _, queue in pairs(call.queues) do view.write(queue) end
  if call.timers then view.write(call.timers) end
  if call.graves then view.write(call.graves) end
  write_outcomes(call)
end

return M
