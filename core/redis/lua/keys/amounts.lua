-- amounts - how much tenants may hold: messages that have not ended and are not dead, and bytes of their payloads.
--
-- A hash has those tenants that are limited so (-1: not), with what they and all below them hold. What the whole
-- queue holds is counted anyhow; over shards it is held against what this one was lent, see lent.lua.
local M = {}
local MESSAGES, BYTES = 15, 16  -- PolicyKey
local AMOUNT = '<dddd'
local IS_HELD = {ready = true, delayed = true, leased = true, held = true}

local function messages_of(sums) return sums.ready + sums.delayed + sums.leased + sums.held end
M.messages_of = messages_of

-- Of a path, or nil where it is not limited.
local function at(call, path)
  local a = call.amounts[path]
  if a == nil then
    local bytes = redis.call('HGET', call.tag .. 'am', path)
    a = false
    if bytes then
      a = {}
      a.messages_max, a.bytes_max, a.messages, a.bytes = struct.unpack(AMOUNT, bytes)
      a.had_messages, a.had_bytes = a.messages, a.bytes
    end
    call.amounts[path] = a
  end
  return a or nil
end

-- One or so many more of a tenant's are so; call.limited is above 0.
function M.count(call, path, what, by)
  if not (what == 'bytes' or IS_HELD[what]) then return end
  local field = what == 'bytes' and 'bytes' or 'messages'
  while path ~= '' do
    local a = at(call, path)
    if a then a[field], a.changed = a[field] + by, true end
    path = string.match(path, '^(.*)/[^/]*$') or ''
  end
end

-- So many messages and bytes by these values; -1: as many as come.
function M.most_of(values)
  local messages, bytes = values[MESSAGES], values[BYTES]
  return messages and messages[1] or -1, bytes and bytes[1] or -1
end

-- What came of `what` is more than the limit by itself, or than is free of it: as of refusal.
local function excess(call, who, what, name, came, had, value, most)
  local never = came > most
  if never then return {who, what, text.num(came), text.num(most), never} end
  local lacks = who == '' and lent.lacks(call, name, had, value) or nil
  if (lacks or value - most) <= 0 then return nil end
  return {who, what, text.num(had), text.num(most), never, lacks and text.num(lacks), text.num(came)}
end

local function excess_of(call, who, a)
  local messages, bytes = a.messages - a.had_messages, a.bytes - a.had_bytes
  local by_messages = a.messages_max >= 0 and messages > 0 and
    excess(call, who, 'messages', lent.MESSAGES, messages, a.had_messages, a.messages, a.messages_max)
  if by_messages then return by_messages end
  if a.bytes_max >= 0 and (messages > 0 or bytes > 0) then
    return excess(call, who, 'bytes', lent.BYTES, bytes, a.had_bytes, a.bytes, a.bytes_max)
  end
end

-- Of what holds for the whole queue.
local function refusal_of_queue(call)
  local messages_max, bytes_max = M.most_of(call.settings.values)
  if messages_max < 0 and bytes_max < 0 then return nil end
  return excess_of(call, '', {messages_max = messages_max, bytes_max = bytes_max, messages = messages_of(call.sums),
    bytes = call.sums.bytes, had_messages = call.had_messages, had_bytes = call.had_bytes})
end

-- What grew in this call above what it may be: who, 'messages' or 'bytes', how much there was, and the limit; or nil.
-- Where what came is more than the limit by itself: how much that is, and that it never fits. Where it is more than this
-- shard was lent: how much it lacks, and how much came.
-- `path`: of a tenant for which something came.
function M.refusal(call, path)
  local found = refusal_of_queue(call)
  while not found and call.limited > 0 and path ~= '' do
    local a = at(call, path)
    found = a and excess_of(call, path, a) or nil
    path = string.match(path, '^(.*)/[^/]*$') or ''
  end
  return found
end
-- The same as a reply.
function M.fault(refusal)
  local who, what, there, most, never, lacks, came = unpack(refusal, 1, 7)
  if lacks then return redis.error_reply('FQSHORT ' .. what .. ' ' .. lacks .. ' ' .. came .. ' ' .. most) end
  return redis.error_reply((never and 'FQNEVER ' or 'FQFULL ') .. what .. ' ' .. there .. ' ' .. most .. ' ' .. who)
end

-- Those at or above a path that are limited so, '': the queue.
function M.limited_above(call, path)
  local found, messages_max, bytes_max = {}, M.most_of(call.settings.values)
  if messages_max >= 0 or bytes_max >= 0 then found[1] = '' end
  while call.limited > 0 and path ~= '' do
    if at(call, path) then found[#found + 1] = path end
    path = string.match(path, '^(.*)/[^/]*$') or ''
  end
  return found
end

-- What timers did before counts as there.
function M.begin(call)
  call.had_messages, call.had_bytes = messages_of(call.sums), call.sums.bytes
  for _, a in pairs(call.amounts) do
    if a then a.had_messages, a.had_bytes = a.messages, a.bytes end
  end
end

-- Whether all that it and those below it hold can be summed in one call.
local TENANTS = 10000
local function range_below(path) return '[' .. path .. '/', '(' .. path .. '0' end  -- '0' is the byte behind '/'
local function below(call, path)
  local first, last = range_below(path)
  local found = redis.call('ZRANGEBYLEX', call.tag .. 'cn', first, last, 'LIMIT', 0, TENANTS + 1)
  found[#found + 1] = path
  return found
end
local function is_crowded(call, path) return redis.call('ZLEXCOUNT', call.tag .. 'cn', range_below(path)) >= TENANTS end
function M.are_limits(values) return values[MESSAGES] ~= nil or values[BYTES] ~= nil end
function M.may_set(call, path, values)
  return not M.are_limits(values) or at(call, path) ~= nil or not is_crowded(call, path)
end

-- Of all tenants there are those that no limit may begin to hold for. Whoever has so many below it has one of every so many by name.
function M.unlimitable(call)
  local found, seen = {}, {}
  for rank = 0, redis.call('ZCARD', call.tag .. 'cn') - 1, TENANTS do
    local path = string.match(redis.call('ZRANGE', call.tag .. 'cn', rank, rank)[1], '^(.*)/[^/]*$')
    while path and not seen[path] do
      seen[path] = true
      if not at(call, path) and is_crowded(call, path) then found[#found + 1] = path end
      path = string.match(path, '^(.*)/[^/]*$')
    end
  end
  return found
end

local function held_below(call, path, of_tenant)
  local held = {messages = 0, bytes = 0}
  for _, each in ipairs(below(call, path)) do
    local one = of_tenant(call, each)
    held.messages, held.bytes = held.messages + messages_of(one), held.bytes + one.bytes
  end
  return held
end

-- Those for which other sums are kept than their tenants have, and where the next page begins ('0': nowhere). Those with too many
-- below them are not looked at.
local PAGE = 128
function M.wrong(call, of_tenant, from)
  local found, page = {}, redis.call('HSCAN', call.tag .. 'am', from, 'COUNT', PAGE)
  for i = 1, #page[2], 2 do
    local path = page[2][i]
    local a = at(call, path)
    local held = #below(call, path) <= TENANTS and held_below(call, path, of_tenant) or a
    if a.messages ~= held.messages or a.bytes ~= held.bytes then found[#found + 1] = path end
  end
  return found, page[1]
end

-- They are kept as their tenants have them.
function M.mend(call, of_tenant, from)
  local found, next_page = M.wrong(call, of_tenant, from)
  for _, path in ipairs(found) do
    local a, held = at(call, path), held_below(call, path, of_tenant)
    a.messages, a.bytes, a.changed = held.messages, held.bytes, true
  end
  return found, next_page
end

-- What holds for a tenant from now on: values by key. `of_tenant`: what is counted of one.
function M.set(call, path, values, of_tenant)
  local most, bytes_most = values[MESSAGES], values[BYTES]
  local a = at(call, path)
  if not most and not bytes_most then
    if a then
      call.amounts[path], call.limited = false, call.limited - 1
      call.unlimited[#call.unlimited + 1] = path
    end
    return
  end
  if not a then
    a = held_below(call, path, of_tenant)
    a.had_messages, a.had_bytes = a.messages, a.bytes
    call.amounts[path], call.limited = a, call.limited + 1
  end
  a.messages_max, a.bytes_max, a.changed = most and most[1] or -1, bytes_most and bytes_most[1] or -1, true
end

-- Whether these values are what is kept of a tenant.
function M.are_set(call, path, values)
  local messages, bytes = M.most_of(values)
  local a = at(call, path) or {messages_max = -1, bytes_max = -1}
  return a.messages_max == messages and a.bytes_max == bytes
end

function M.write(call)
  for _, path in ipairs(call.unlimited) do redis.call('HDEL', call.tag .. 'am', path) end
  for path, a in pairs(call.amounts) do
    if a and a.changed then
      redis.call('HSET', call.tag .. 'am', path, struct.pack(AMOUNT, a.messages_max, a.bytes_max, a.messages, a.bytes))
    end
  end
end

return M
