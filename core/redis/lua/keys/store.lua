-- store - messages as the call sees them: each read once, and written at its end.
local M = {}

-- nil: there is none, or it has ended.
function M.find(call, id)
  local m = call.messages[id]
  if m == nil then
    local key = call.tag .. 'm:' .. text.num(id)
    local bytes = redis.call('GETRANGE', key, 0, records.HEAD_AND_NAMES_BYTES - 1)
    m = bytes ~= '' and records.message(id, bytes) or false
    if m and m.state > records.DEAD then m = false end
    call.messages[id] = m
  end
  return m and not m.gone and m or nil
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
    m.ties = records.ties(redis.call('GET', call.tag .. 'a:' .. text.num(m.id)))
  end
  if make and not m.ties then m.ties, m.is_tied = records.new_ties(), true end
  return m.ties
end

-- It has ended as `what`, and that is kept.
function M.ended(call, m, what)
  m.gone = true
  call.outcome_of[m.id] = what
  call.outcomes[#call.outcomes + 1] = {m.id, struct.pack('<Bd', what == 'acked' and ACKED or CANCELLED, call.now) .. m.path}
end
-- It is in another queue: `to` is that, and its id there.
function M.moved(call, m, to)
  m.gone = true
  call.outcomes[#call.outcomes + 1] = {m.id, struct.pack('<BddH', MOVED, call.now, to[2], #to[1]) .. to[1] .. m.path}
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

local function write_message(call, m)
  local name = text.num(m.id)
  local key, ties = call.tag .. 'm:' .. name, call.tag .. 'a:' .. name
  if m.gone then
    if m.told then redis.call('UNLINK', ties) else redis.call('UNLINK', key, call.tag .. 'f:' .. name, ties) end
    if m.stepped then redis.call('UNLINK', call.tag .. 'so:' .. name, call.tag .. 'sk:' .. name) end
    if m.stepped and not m.told then redis.call('UNLINK', call.tag .. 'st:' .. name) end
    return
  end
  if m.rest then
    redis.call('SET', key, records.head(m) .. m.path .. m.key .. m.rest)
  else
    redis.call('SETRANGE', key, 0, records.head(m))
  end
  if m.failure then redis.call('SET', call.tag .. 'f:' .. name, m.failure) end
  if m.ties then redis.call('SET', ties, records.ties_bytes(m.ties)) end
end

function M.write(call)
  for _, m in pairs(call.messages) do
    if m and m.changed then write_message(call, m) end
  end
  write_outcomes(call)
end

return M
