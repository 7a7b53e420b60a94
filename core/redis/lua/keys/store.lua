-- store - messages as the call sees them: each read once, and written at its end.
local M = {}

-- nil: there is none, it has ended, or its record is lost: missing, or nothing that this program wrote.
function M.find(call, id)
  local m = call.messages[id]
  if m == nil then
    local key = call.tag .. 'm:' .. text.num(id)
    local bytes = redis.call('GETRANGE', key, '0', records.HEAD_AND_NAMES_END)
    m = records.message(id, bytes) or false
    if m and m.state > records.DEAD then m = false end
    call.messages[id] = m
  end
  return m and not m.gone and m or nil
end

-- Of one that find() does not give, whether there are bytes where its record should be.
function M.is_unreadable(call, id)
  local bytes = redis.call('GETRANGE', call.tag .. 'm:' .. text.num(id), '0', records.HEAD_AND_NAMES_END)
  return bytes ~= '' and not records.message(id, bytes)
end

local ACKED, CANCELLED, MOVED = 1, 2, 3  -- outcomes

-- How it stands: a state, 'acked' or 'cancelled'; nil: nobody knows of it, or it is in another queue or on its way there.
function M.state(call, id)
  local m = M.find(call, id)
  if m and m.leaving then return nil end
  if m then return m.state end
  if call.outcome_of[id] then return call.outcome_of[id] end
  local outcome = redis.call('HGET', call.tag .. 'o', text.num(id))
  if not outcome or string.byte(outcome) == MOVED then return nil end
  return string.byte(outcome) == ACKED and 'acked' or 'cancelled'
end
function M.is_leaving(call, id)
  local m = M.find(call, id)
  return m and m.leaving
end
function M.has_moved(call, id)
  local outcome = redis.call('HGET', call.tag .. 'o', text.num(id))
  return outcome and string.byte(outcome) == MOVED
end
function M.has_ended(state) return state == records.DEAD or state == 'acked' or state == 'cancelled' end

-- What ties it to others. Without `make` there is something only where it was made once.
function M.ties(call, m, make)
  if not m.ties and m.is_tied then
    m.ties = records.ties(redis.call('GET', call.tag .. 'a:' .. records.name_of(m)))
  end
  if make and not m.ties then m.ties, m.is_tied = records.new_ties(), true end
  return m.ties
end

-- Why its last attempt failed; '': none has, or a kick has forgotten that.
function M.failure(call, m)
  return m.failure or redis.call('GET', call.tag .. 'f:' .. records.name_of(m)) or ''
end

-- It has ended as `what`, and that is kept, with the attempts that counted behind the path, where there were any.
function M.ended(call, m, what)
  m.gone = true
  call.outcome_of[m.id] = what
  local attempts = m.attempts > 0 and struct.pack('<BH', 0, m.attempts) or ''
  call.outcomes[#call.outcomes + 1] = {records.name_of(m),
    struct.pack('<Bd', what == 'acked' and ACKED or CANCELLED, call.now) .. m.path .. attempts}
end
-- It is in another queue: `to` is that, and its id there.
function M.moved(call, m, to)
  m.gone = true
  call.outcomes[#call.outcomes + 1] = {records.name_of(m), struct.pack('<BddH', MOVED, call.now, to[2], #to[1]) .. to[1] .. m.path}
end

local OUTCOMES = 65536
local function write_outcomes(call)
  if #call.outcomes == 0 then return end
  local fields, ids = {}, {}
  for i, outcome in ipairs(call.outcomes) do
    ids[i], fields[2 * i - 1], fields[2 * i] = outcome[1], outcome[1], outcome[2]
  end
  text.call('HSET', call.tag .. 'o', fields)
  local more = text.call('RPUSH', call.tag .. 'ol', ids) - OUTCOMES
  if more > 0 then text.call('HDEL', call.tag .. 'o', redis.call('LPOP', call.tag .. 'ol', more)) end
end

-- A key without the tag has these bytes from now on.
function M.set(call, key, bytes)
  local sets = call.sets
  local last = #sets
  sets[last + 1], sets[last + 2] = call.tag .. key, bytes
end

local function write_message(call, m, gone)
  local name = records.name_of(m)
  if m.gone then
    if not m.told then
      gone[#gone + 1] = call.tag .. 'm:' .. name
      gone[#gone + 1] = call.tag .. 'f:' .. name
    end
    if m.is_tied then gone[#gone + 1] = call.tag .. 'a:' .. name end
    if m.stepped then redis.call('UNLINK', call.tag .. 'so:' .. name, call.tag .. 'sk:' .. name) end
    if m.stepped and not m.told then redis.call('UNLINK', call.tag .. 'st:' .. name) end
    return
  end
  if m.rest then
    M.set(call, 'm:' .. name, records.head(m) .. m.path .. m.key .. m.rest)
  else
    redis.call('SETRANGE', call.tag .. 'm:' .. name, '0', records.head(m))
  end
  if m.failure == '' then
    gone[#gone + 1] = call.tag .. 'f:' .. name
  elseif m.failure then
    M.set(call, 'f:' .. name, m.failure)
  end
  if m.ties then M.set(call, 'a:' .. name, records.ties_bytes(m.ties)) end
end

function M.write(call)
  local gone = {}
  for _, m in pairs(call.messages) do
    if m and m.changed then write_message(call, m, gone) end
  end
  text.call('UNLINK', nil, gone)
  write_outcomes(call)
end
-- Behind all others that set something.
function M.write_sets(call) text.call('MSET', nil, call.sets) end

return M
