-- told - messages that have ended and are still told of, for as long as their push or the queue says: without their
-- payload, and without the variables of their command. Those that have ended first go sooner, where there would be too many.
local M = {}
local RECORDS_MOST, BYTES_MOST = 10000, 268435456  -- of a shard; with what their jobs have put out
local DROPPED, DROPPED_MOST = 64, 1024             -- in one call
local AUTO = 9223372036854775807
local WEEK = 604800000

function M.times(call)
  call.told_times = call.told_times or view.open(call.tag .. 'zt', view.by_number)
  return call.told_times
end

-- See calls.look.
function M.first(call)
  if call.has_none and not call.told_times then return nil end
  return view.first(M.times(call))
end

local function time_asked(call, m)
  if m.keep >= 0 then return m.keep end
  local retention = call.settings.retention
  if retention < AUTO then return retention end
  return m.is_command and WEEK or 0
end

-- How long it is told of; 0: not at all. Where nothing asks for it, as long as what its run has put out is kept.
local function time_of(call, m)
  local time = time_asked(call, m)
  return time > 0 and time or m.output_time or 0
end

-- What became of its last run, where that was over before: it failed, or nobody said.
local function last_verdict(call, m)
  local failure = m.deliveries > 0 and store.failure(call, m) or ''
  return failure ~= '' and records.verdict_in(failure) or nil
end

-- It has ended as `what`, while it ran or not; `verdict`: what that says of the run.
function M.note(call, m, what, was_running, verdict)
  local time = time_of(call, m)
  if time == 0 then return end
  if not was_running then verdict = last_verdict(call, m) end
  m.told = {state = what == 'acked' and records.ACKED or records.CANCELLED, verdict = verdict}
  m.since, m.timer = call.now, call.now + time
  call.told[#call.told + 1] = m
end

local function block_of(m, key)
  if m.rest then return blocks.of(m.rest) end
  local from = records.HEAD_BYTES + #m.path + #m.key
  local size = redis.call('GETRANGE', key, from, from + 3)
  return #size == 4 and redis.call('GETRANGE', key, from + 4, from + 3 + struct.unpack('<I4', size)) or ''
end

-- How many bytes are kept of each (zb), and of all: of what an older fq has kept, and where this is lost, it counts as none.
local ALL = 'all'  -- no member is as short
local function size_of(call, member) return tonumber(redis.call('HGET', call.tag .. 'zb', member) or 0) or 0 end

-- Nobody is told of these any more. Returns how many bytes were kept of them.
local function drop(call, members)
  local names, bytes = {}, 0
  for _, member in ipairs(members) do
    local name = text.num(view.by_number(member))
    for _, what in ipairs({'m:', 'f:', 'g:', 'st:', 'x:'}) do names[#names + 1] = call.tag .. what .. name end
    bytes = bytes + size_of(call, member)
  end
  text.call('UNLINK', nil, names)
  for _, list in ipairs({'z', 'zt'}) do text.call('ZREM', call.tag .. list, members) end
  text.call('HDEL', call.tag .. 'zb', members)
  return bytes
end

-- The oldest go that are more than are kept, at most so many. Returns the bytes of all as they are then.
local function drop_oldest(call, bytes, most)
  local above, gone, left = redis.call('ZCARD', call.tag .. 'z') - RECORDS_MOST, {}, bytes
  if above <= 0 and bytes <= BYTES_MOST then return bytes end
  for _, member in ipairs(redis.call('ZRANGE', call.tag .. 'z', '0', most - 1)) do
    if #gone >= above and left <= BYTES_MOST then break end
    if store.find(call, view.by_number(member)) then
      redis.call('ZREM', call.tag .. 'z', member)  -- which is damage: it has not ended
    else
      gone[#gone + 1] = member
      left = left - size_of(call, member)
    end
  end
  return bytes - drop(call, gone)
end

-- This call drops many of them. Returns whether there are any.
function M.drop_many(call)
  call.drops_many = true
  return redis.call('ZCARD', call.tag .. 'z') > RECORDS_MOST or size_of(call, ALL) > BYTES_MOST
end

-- Those of which nobody is told any more go, at most so many.
function M.forget(call, most)
  for _ = 1, most do
    local first = M.first(call)
    if not first or first[1] > call.now then return end
    view.take(M.times(call), first[2])
    local has_ended = not store.find(call, view.by_number(first[2]))
    if has_ended then call.forgotten[#call.forgotten + 1] = first[2] end
  end
end

-- Of the dead, those that are told of, or both ('d', 'z', 'dz'): those before a time and an id, the newest end first.
-- Each is a time and an id.
function M.page(call, lists, before, before_id, n)
  local found = {}
  for list in string.gmatch(lists, '.') do
    for _, each in ipairs(pages.before(call.tag .. list, before, before_id, n)) do
      found[#found + 1] = {tonumber(each[1]), each[2]}
    end
  end
  table.sort(found, function(a, b)
    if a[1] ~= b[1] then return a[1] > b[1] end
    return a[2] > b[2]
  end)
  for i = #found, n + 1, -1 do found[i] = nil end
  return found
end

-- Returns how many bytes are kept of it.
local function keep(call, m)
  local name, member = records.name_of(m), records.member_of(m)
  local key = call.tag .. 'm:' .. name
  local block = blocks.without_variables(block_of(m, key))
  m.state = m.told.state
  local record = records.head(m) .. m.path .. m.key .. struct.pack('<I4', #block) .. block
  redis.call('SET', key, record)
  if m.failure then redis.call('SET', call.tag .. 'f:' .. name, m.failure) end
  if m.told.verdict then redis.call('SET', call.tag .. 'g:' .. name, m.told.verdict) end
  redis.call('ZADD', call.tag .. 'z', text.num(m.since), member)
  view.put(M.times(call), m.timer, member)
  local bytes = #record + redis.call('STRLEN', call.tag .. 'f:' .. name) + #(m.told.verdict or '') + #(call.outputs[m.id] or '')
  for _, each in ipairs(m.stepped and redis.call('HGETALL', call.tag .. 'st:' .. name) or {}) do bytes = bytes + #each end
  redis.call('HSET', call.tag .. 'zb', member, bytes)
  return bytes
end

local function write_bytes(call, bytes)
  if redis.call('EXISTS', call.tag .. 'z') == 1 then
    redis.call('HSET', call.tag .. 'zb', ALL, text.num(math.max(0, bytes)))
  else
    redis.call('UNLINK', call.tag .. 'zb')
  end
end

function M.write(call)
  local came, bytes = #call.told, 0
  if came + #call.forgotten > 0 or call.drops_many then bytes = size_of(call, ALL) end
  for _, m in ipairs(call.told) do bytes = bytes + keep(call, m) end
  if call.told_times then view.write(call.told_times) end
  if #call.forgotten > 0 then bytes = bytes - drop(call, call.forgotten) end
  if came > 0 or call.drops_many then
    bytes = drop_oldest(call, bytes, call.drops_many and DROPPED_MOST or math.max(DROPPED, 2 * came))
  end
  if came + #call.forgotten > 0 or call.drops_many then write_bytes(call, bytes) end
end

return M
