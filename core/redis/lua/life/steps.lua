-- steps - what the job of a message does once: what each step has come to, by name.
--
--   st:ID  a hash of the steps, as below        so:ID  their outputs
--   sk:ID  who is at a step: the session and a text of its own
-- A step: kind, when that was kept, its place among the others, bytes of its output, the message that it has pushed,
-- whether it is over, and whether all that it waited for were acked; then the ids that it waits for.
local M = {}
local STEP = '<BddddBB'
local STEP_BYTES = 35
M.RUN, M.SLEEP, M.WAIT, M.PUSH = 1, 2, 3, 4
local MOST, BYTES_MOST = 1000, 16777216  -- of one message
local NONCE_BYTES = text.NONCE_BYTES
local LATEST = 4503599627370496

local function key(call, m, what) return call.tag .. what .. text.num(m.id) end

local function read(bytes)
  local s, over, all_acked = {ids = {}}, nil, nil
  s.kind, s.at, s.place, s.bytes, s.child, over, all_acked = struct.unpack(STEP, bytes)
  s.over, s.all_acked = over == 1, all_acked == 1
  for at = STEP_BYTES + 1, #bytes, 8 do s.ids[#s.ids + 1] = (struct.unpack('<d', bytes, at)) end
  return s
end
local function bytes_of(s)
  local parts = {struct.pack(STEP, s.kind, s.at, s.place, s.bytes, s.child, s.over and 1 or 0, s.all_acked and 1 or 0)}
  for i, id in ipairs(s.ids) do parts[i + 1] = struct.pack('<d', id) end
  return table.concat(parts)
end

local function count_of(call, m) return m.stepped and redis.call('HLEN', key(call, m, 'st:')) or 0 end

-- nil: it has come to nothing yet.
local function find(call, m, name)
  local bytes = m.stepped and redis.call('HGET', key(call, m, 'st:'), name)
  return bytes and read(bytes) or nil
end

-- What a receipt holds, or nil and why nothing: a job that sleeps does no steps.
local function held_by(call, receipt)
  local m, refusal = messages.held_by(call, receipt.id, receipt.serial, receipt.nonce)
  if m and m.suspended then return nil, 'stale' end
  return m, refusal
end

-- A step of this kind, or why there is none; nil and nil: it has to be made.
local function look(call, receipt, name, kind)
  local m, refusal = held_by(call, receipt)
  if not m then return nil, nil, {refusal} end
  local s = find(call, m, name)
  if s and s.kind ~= kind then return m, s, {'kind', s.kind} end
  if not s and count_of(call, m) >= MOST then return m, nil, {'many', text.num(count_of(call, m))} end
  return m, s, nil
end

-- It is written by write(). `due`: until when it sleeps; nil: it does not.
local function put(call, m, name, s, due)
  s.at, s.place = call.now, s.place or call.ops
  m.stepped, m.changed = true, true
  call.steps[#call.steps + 1] = {m, name, s}
  events.note(call, m, 'stepped', {due = due, step = struct.pack('<BdH', s.kind, s.bytes, #name) .. name})
end
local function new_step(kind) return {kind = kind, bytes = 0, child = 0, over = true, all_acked = true, ids = {}} end

local function is_alive(call, holder) return sessions.is_alive(call, string.sub(holder, 1, NONCE_BYTES)) end

-- name, a text that nobody else has, pid. 'kept' and its output; or 'run': it is the caller's; or 'wait'.
function M.begin(call, receipt, name, token, pid)
  local m, s, refusal = look(call, receipt, name, M.RUN)
  if refusal then return refusal end
  if s then return {'kept', redis.call('HGET', key(call, m, 'so:'), name)} end
  local holder = redis.call('HGET', key(call, m, 'sk:'), name)
  if holder and holder ~= call.session .. token and is_alive(call, holder) then return {'wait'} end
  sessions.open(call, pid)
  m.stepped, m.changed = true, true
  redis.call('HSET', key(call, m, 'sk:'), name, call.session .. token)
  return {'run'}
end
function M.leave(call, id, name, token)
  local at = call.tag .. 'sk:' .. id
  if redis.call('HGET', at, name) == call.session .. token then redis.call('HDEL', at, name) end
  return {}
end

function M.keep(call, receipt, name, output)
  local m, s, refusal = look(call, receipt, name, M.RUN)
  if refusal then return refusal end
  local more = #output - (s and s.bytes or 0)
  if m.step_bytes + more > BYTES_MOST then return {'long', text.num(m.step_bytes + more)} end
  s = s or new_step(M.RUN)
  s.bytes, s.output = #output, output
  m.step_bytes = m.step_bytes + more
  sums.count(call, m.path, 'bytes', more)
  put(call, m, name, s)
  return {'ok'}
end

-- `push`: puts the message, or answers why not. 'ok' and its id.
function M.push(call, receipt, name, push)
  local m, s, refusal = look(call, receipt, name, M.PUSH)
  if refusal then return refusal end
  if s then return {'ok', text.num(s.child)} end
  local child, fault = push()
  if not child then return nil, fault end
  s = new_step(M.PUSH)
  s.child = child
  put(call, m, name, s)
  return {'ok', text.num(child)}
end

-- The job comes to its end, and its message sleeps. Who holds it until a time says nothing of that end.
local function suspend(call, m, due, ids)
  local ties = store.ties(call, m, true)
  ties.due, ties.delay, ties.waits = due, -1, {}
  for i, id in ipairs(ids) do ties.waits[i] = {id = id, any = true, closed = false, began = 0} end
  m.suspended, m.wait_failed, m.changed = true, false, true
  if not m.living then messages.fall_asleep(call, m) end
  return {'asleep'}
end

-- Until then.
function M.sleep(call, receipt, name, due)
  local m, s, refusal = look(call, receipt, name, M.SLEEP)
  if refusal then return refusal end
  if s then return {'over', 1} end
  put(call, m, name, new_step(M.SLEEP), math.min(due, LATEST))
  if due <= call.now then return {'over', 1} end
  return suspend(call, m, math.min(due, LATEST), {})
end

-- The messages that its steps have pushed.
local function children(call, m)
  local ids = {}
  for _, bytes in ipairs(m.stepped and redis.call('HVALS', key(call, m, 'st:')) or {}) do
    local s = read(bytes)
    if s.kind == M.PUSH then ids[#ids + 1] = s.child end
  end
  return ids
end

-- Each once; or why they cannot be waited for.
local function wanted(call, m, ids)
  local seen, found = {}, {}
  for _, id in ipairs(ids or children(call, m)) do
    if id == m.id then return nil, {'itself'} end
    if store.state(call, id) == nil then return nil, {'unknown', text.num(id)} end
    if not seen[id] then seen[id], found[#found + 1] = true, id end
  end
  if #found > MOST then return nil, {'more', text.num(#found)} end
  return found
end

-- ids; nil: all that its steps have pushed. How one ended that nobody knows any more was noted when the message was let go.
function M.wait(call, receipt, name, ids)
  local m, s, refusal = look(call, receipt, name, M.WAIT)
  if refusal then return refusal end
  if s and s.over then return {'over', s.all_acked and 1 or 0} end
  if not s then
    s = new_step(M.WAIT)
    s.ids, refusal = wanted(call, m, ids)
    if refusal then return refusal end
  end
  local open = {}
  for _, id in ipairs(s.ids) do
    local state = store.state(call, id)
    local has_ended = state == nil or store.has_ended(state)
    if not has_ended then open[#open + 1] = id end
    local was_acked = state == 'acked' or (state == nil and not m.wait_failed)
    s.all_acked = s.all_acked and (not has_ended or was_acked)
  end
  s.over = #open == 0
  put(call, m, name, s)
  if s.over then return {'over', s.all_acked and 1 or 0} end
  return suspend(call, m, 0, open)
end

-- Of a message that comes from another queue, as it was there: `bytes` as here; `place`: among its others.
function M.import(call, m, name, bytes, output, place)
  local s = read(bytes)
  s.place = call.ops + place
  if s.kind == M.RUN then s.bytes, s.output = #output, output end
  m.step_bytes, m.stepped, m.changed = m.step_bytes + s.bytes, true, true
  if m.state ~= records.DEAD then sums.count(call, m.path, 'bytes', s.bytes) end
  call.steps[#call.steps + 1] = {m, name, s}
end

-- They are to be done anew.
function M.forget(call, m)
  if count_of(call, m) == 0 then return end
  events.note(call, m, 'unstepped')
  if m.state ~= records.DEAD then sums.count(call, m.path, 'bytes', -m.step_bytes) end
  m.stepped, m.step_bytes, m.changed = false, 0, true
  call.unstepped[#call.unstepped + 1] = m
end

-- Of a message that is there or still told of, name and step each; nil: there is none.
function M.list(call, id)
  if redis.call('EXISTS', call.tag .. 'm:' .. id) == 0 then return {0} end
  local found = {1}
  local all = redis.call('HGETALL', call.tag .. 'st:' .. id)
  for i = 1, #all, 2 do
    local s = read(all[i + 1])
    found[#found + 1] = {all[i], s.kind, text.num(s.at), text.num(s.place), text.num(s.bytes), text.num(s.child)}
  end
  return found
end

function M.write(call)
  for _, m in ipairs(call.unstepped) do redis.call('UNLINK', key(call, m, 'st:'), key(call, m, 'so:'), key(call, m, 'sk:')) end
  for _, each in ipairs(call.steps) do
    local m, name, s = each[1], each[2], each[3]
    redis.call('HSET', key(call, m, 'st:'), name, bytes_of(s))
    if s.output then redis.call('HSET', key(call, m, 'so:'), name, s.output) end
  end
end

return M
