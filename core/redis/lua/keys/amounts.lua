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
  local messages, bytes = limits.most(values[MESSAGES]), limits.most(values[BYTES])
  return messages < math.huge and messages or -1, bytes < math.huge and bytes or -1
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
local function is_crowded(call, path) return redis.call('ZLEXCOUNT', call.tag .. 'cn', range_below(path)) >= TENANTS end
function M.are_limits(values)
  local messages, bytes = M.most_of(values)
  return messages >= 0 or bytes >= 0
end
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

-- What a tenant with all below it has, summed over several calls for as long as there is no other change; else from the front again,
-- and after so many tries it is told to be in use.
local PAGE, TENANTS_OF_CALL, TRIES = 128, 1024, 8
local function sum_of(path, tries) return {path = path, last = '', messages = 0, bytes = 0, tries = tries} end
local function sum_on(call, sum, of_tenant, most)
  local first, last = range_below(sum.path)
  local some = redis.call('ZRANGEBYLEX', call.tag .. 'cn', sum.last == '' and first or '(' .. sum.last, last, 'LIMIT', 0, most)
  sum.is_whole = #some < most
  local is_begun = sum.last ~= ''
  sum.last = some[#some] or ''
  if not is_begun then some[#some + 1] = sum.path end
  for _, each in ipairs(some) do
    local one = of_tenant(call, each)
    sum.messages, sum.bytes = sum.messages + messages_of(one), sum.bytes + one.bytes
  end
  return #some
end

-- Where a page goes on: the page, then what is summed. No name has a line feed.
local function place_of(scan, sum, changes)
  return table.concat({scan, sum.path, sum.last, text.num(sum.messages), text.num(sum.bytes), text.num(sum.tries), text.num(changes)}, '\n')
end
local function sum_at(call, place)
  local scan, path, last, messages, bytes, tries, changes = string.match(place, '^(%d+)\n(.*)\n(.*)\n(%S+)\n(%S+)\n(%d+)\n(%d+)$')
  if not scan then return place, nil end
  if changes ~= text.num(call.ops) then return scan, sum_of(path, tonumber(tries) + 1) end
  return scan, {path = path, last = last, messages = tonumber(messages), bytes = tonumber(bytes), tries = tonumber(tries)}
end

-- What those have for which something else is kept, where the next call goes on ('0': nowhere), before which there are so many
-- changes, and the paths of those in use.
local function wrong(call, of_tenant, from, changes)
  local scan, sum = sum_at(call, from)
  local page, left = redis.call('HSCAN', call.tag .. 'am', scan, 'COUNT', PAGE), TENANTS_OF_CALL
  local paths, found, in_use = {}, {}, {}
  for i = 1, #page[2], 2 do
    if not sum or page[2][i] >= sum.path then paths[#paths + 1] = page[2][i] end
  end
  table.sort(paths)  -- those before the one that goes on are done
  for _, path in ipairs(paths) do
    if not sum or sum.path ~= path then sum = sum_of(path, 0) end
    if sum.tries == TRIES then
      in_use[#in_use + 1] = path
    else
      left = left - sum_on(call, sum, of_tenant, left)
      if not sum.is_whole then return found, place_of(scan, sum, changes), in_use end
      local a = at(call, path)
      if a.messages ~= sum.messages or a.bytes ~= sum.bytes then found[#found + 1] = sum end
      left = math.max(left, 1)
    end
  end
  return found, page[1], in_use
end

local function paths_of(sums)
  local paths = {}
  for i, each in ipairs(sums) do paths[i] = each.path end
  return paths
end
function M.wrong(call, of_tenant, from)
  local found, next_page, in_use = wrong(call, of_tenant, from, call.ops)
  return paths_of(found), next_page, in_use
end

-- They are kept as their tenants have them. This call is a change, too.
function M.mend(call, of_tenant, from)
  local found, next_page = wrong(call, of_tenant, from, call.ops + 1)
  for _, sum in ipairs(found) do
    local a = at(call, sum.path)
    a.messages, a.bytes, a.changed = sum.messages, sum.bytes, true
  end
  return paths_of(found), next_page
end

-- What holds for a tenant from now on: values by key. `of_tenant`: what is counted of one.
function M.set(call, path, values, of_tenant)
  local messages_max, bytes_max = M.most_of(values)
  local a = at(call, path)
  if messages_max < 0 and bytes_max < 0 then
    if a then
      call.amounts[path], call.limited = false, call.limited - 1
      call.unlimited[#call.unlimited + 1] = path
    end
    return
  end
  if not a then
    local sum = sum_of(path, 0)
    sum_on(call, sum, of_tenant, TENANTS + 1)
    a = {messages = sum.messages, bytes = sum.bytes}
    a.had_messages, a.had_bytes = a.messages, a.bytes
    call.amounts[path], call.limited = a, call.limited + 1
  end
  a.messages_max, a.bytes_max, a.changed = messages_max, bytes_max, true
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
