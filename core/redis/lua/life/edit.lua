-- edit - other values of a message that waits or is dead. It keeps its id, and takes the place that they give it.
local M = {}
-- What is changed, then the values: priority, attempts (0: the queue's), how long it is told of (-1: as the queue
-- says), time to live (0: none), delay, at, bytes of the payload, whether it runs a command.
local FIELDS = '<Hi4HddddI4B'
local PRIORITY, KEY, ATTEMPTS, KEEP, TTL, DELAY, AT, REST = 1, 2, 4, 8, 16, 32, 64, 128

local function read(fields)
  local p, is_command = {}, nil
  p.what, p.priority, p.attempts_max, p.keep, p.ttl, p.delay, p.at, p.bytes, is_command = struct.unpack(FIELDS, fields)
  p.is_command = is_command == 1
  return p
end
local function has(p, bit) return math.floor(p.what / bit) % 2 == 1 end

-- Whether what only the client reads is still what that has seen.
function M.is_as_seen(call, m, seen)
  local from = records.HEAD_BYTES + #m.path + #m.key
  return redis.call('GETRANGE', call.tag .. 'm:' .. text.num(m.id), from, -1) == seen
end

local function set_time(call, m, p)
  local delay = has(p, AT) and pace.at(call, p.at) - call.now or p.delay
  if m.state == records.HELD then
    local ties = store.ties(call, m)
    ties.delay = has(p, DELAY) and p.delay or -1
    ties.due = call.now + delay
  elseif delay > 0 or m.state == records.DELAYED then
    messages.come_back(call, m, delay)
  end
end

-- No answer, and a fault: it would hold more than it may.
-- args: id, fields, sort key, the rest that was seen and the new one. What became of it: 'ok', 'gone', 'stale',
-- 'timeless' (it is dead), 'again' (somebody else has changed it), or 'crossing' (it is on its way to another queue).
function M.run(call, args)
  local m = store.find(call, tonumber(args[4]))
  if not m then return {'gone'} end
  if m.state == records.LEASED then return {'stale'} end
  if m.leaving then return {'crossing'} end
  local p, key, seen, rest = read(args[5]), args[6], args[7], args[8]
  if p.what == 0 then return {'ok'} end
  local timed = has(p, DELAY) or has(p, AT)
  if timed and m.state == records.DEAD then return {'timeless'} end
  if not has(p, REST) then rest = seen end
  if not M.is_as_seen(call, m, seen) then return {'again'} end
  amounts.begin(call)
  messages.edit(call, m, function()
    if has(p, PRIORITY) then m.priority = p.priority end
    if has(p, KEY) then m.key = key end
    m.bytes, m.rest, m.is_command = p.bytes, rest, p.is_command
    if has(p, ATTEMPTS) then m.attempts_max = p.attempts_max end
    if has(p, ATTEMPTS) and p.attempts_max == 0 then m.in_force = 0 end
    if has(p, KEEP) then m.keep = p.keep end
    if has(p, TTL) then m.ttl = p.ttl end
  end)
  local refusal = amounts.refusal(call, m.path)
  if refusal then return nil, amounts.fault(refusal) end
  if timed then set_time(call, m, p) end
  messages.edited(call, m, rest)
  return {'ok'}
end

return M
