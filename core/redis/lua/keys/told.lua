-- told - messages that have ended and are still told of, for as long as their push or the queue says: without their
-- payload, and without the variables of their command.
local M = {}
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

-- How long it is told of; 0: not at all.
function M.time_of(call, m)
  if m.keep >= 0 then return m.keep end
  local retention = call.settings.retention
  if retention < AUTO then return retention end
  return m.is_command and WEEK or 0
end

-- It has ended as `what`, after a run or not; `verdict`: what that says of the run.
function M.note(call, m, what, has_run, verdict)
  local time = M.time_of(call, m)
  if time == 0 then return end
  m.told = {state = what == 'acked' and records.ACKED or records.CANCELLED, verdict = verdict}
  m.since, m.timer, m.began = call.now, call.now + time, has_run and m.began or 0
  call.told[#call.told + 1] = m
end

local function block_of(m, key)
  if m.rest then return blocks.of(m.rest) end
  local from = records.HEAD_BYTES + #m.path + #m.key
  local size = redis.call('GETRANGE', key, from, from + 3)
  return #size == 4 and redis.call('GETRANGE', key, from + 4, from + 3 + struct.unpack('<I4', size)) or ''
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

function M.write(call)
  for _, m in ipairs(call.told) do
    local name = records.name_of(m)
    local key = call.tag .. 'm:' .. name
    local block = blocks.without_variables(block_of(m, key))
    m.state = m.told.state
    redis.call('SET', key, records.head(m) .. m.path .. m.key .. struct.pack('<I4', #block) .. block)
    if m.failure then redis.call('SET', call.tag .. 'f:' .. name, m.failure) end
    if m.told.verdict then redis.call('SET', call.tag .. 'g:' .. name, m.told.verdict) end
    redis.call('ZADD', call.tag .. 'z', text.num(m.since), records.member_of(m))
    view.put(M.times(call), m.timer, records.member_of(m))
  end
  for _, member in ipairs(call.forgotten) do
    local name = text.num(view.by_number(member))
    redis.call('UNLINK', call.tag .. 'm:' .. name, call.tag .. 'f:' .. name, call.tag .. 'g:' .. name,
      call.tag .. 'st:' .. name)
    redis.call('ZREM', call.tag .. 'z', member)
  end
  if call.told_times then view.write(call.told_times) end
end

return M
