-- idle - tenants that have nothing, until nothing is known of them any more.
--
-- Who was idle for a minute, and owes nothing then, would come back as a new one does: its keys go. Until that minute is over
-- nodes that have nothing to do stand in a zset by when they are looked at (il), and say so themselves; those below others stand
-- in one by their names (nn), for whoever has some below it stays. A call looks at as many as it has put there, and at some more.
local M = {}
local LOOKED_AT, LOOKED_AT_MOST = 16, 512

local function has_nothing_to_do(n) return n.own.count == 0 and n.own.run == 0 and n.run == 0 and n.kids == 0 end
local function has_messages(counted)
  return counted.ready + counted.delayed + counted.leased + counted.held + counted.dead > 0
end

-- Something is set for it at run time, or cannot be read. That it starts nothing until a time that is over is not said any more.
local LIMITED = 24  -- PolicyKey
local function is_set(call, path)
  local is_read, values = pcall(records.add_policy, {}, redis.call('HGET', call.tag .. 'ov', path) or '')
  if not is_read then return true end
  if values[LIMITED] and values[LIMITED][1] <= call.now then values[LIMITED] = nil end
  return next(values) ~= nil
end

local function has_some_below(call, path)
  local first, last = '[' .. path .. '/', '(' .. path .. '0'  -- '0' is the byte behind '/'
  for _, list in ipairs({'cn', 'nn'}) do
    if redis.call('ZRANGEBYLEX', call.tag .. list, first, last, 'LIMIT', '0', '1')[1] then return true end
  end
  return false
end

-- It stays as it is until it has something to do.
local function stays(call, n)
  return not has_nothing_to_do(n) or has_messages(sums.of_tenant(call, n.path)) or is_set(call, n.path) or
    has_some_below(call, n.path)
end

-- When nothing that is known of it makes a difference any more: how long its runs take, what it owes, its rate.
local function free_at(call, n)
  local p, own = seats.above(call, n), n.own
  return math.max(own.idle + costs.FORGOTTEN, n.idle + costs.FORGOTTEN, seats.settled_at(own, n), seats.settled_at(n, p),
    limits.full_at(n.limits))
end

local function list(listed, n, at)
  n.listed, n.changed = true, true
  listed[#listed + 1], listed[#listed + 2] = at, n.path
end

local function forget(call, n, listed)
  local path, parent = n.path, seats.above(call, n)
  while parent.path ~= '' and not parent.is_stored do parent = seats.above(call, parent) end
  if call.limited > 0 then amounts.set(call, path, {}) end
  redis.call('UNLINK', call.tag .. 'n:' .. path, call.tag .. 'c:' .. path)
  for _, name in ipairs({'cn', 'nn', 'il'}) do redis.call('ZREM', call.tag .. name, path) end
  for _, name in ipairs({'ov', 'rk'}) do redis.call('HDEL', call.tag .. name, path) end
  call.nodes[path], call.tenant_sums[path] = nil, nil
  if parent.path ~= '' and not parent.listed then list(listed, parent, call.now) end
end

local function look_at(call, n, listed)
  if n.path == '' then redis.call('ZREM', call.tag .. 'il', '') return end  -- which is damage: nothing is above it
  if n.changed or sums.of_tenant(call, n.path).changed then return list(listed, n, call.now + costs.FORGOTTEN) end
  if stays(call, n) then
    n.listed, n.changed = false, true
    redis.call('ZREM', call.tag .. 'il', n.path)
    return
  end
  local at = free_at(call, n)
  if at > call.now then list(listed, n, at) else forget(call, n, listed) end
end

-- Behind all that changes a node, before any is written: those that are listed, as write() takes them.
function M.prepare(call)
  local listed, nested = {}, {}
  for path, n in pairs(call.nodes) do
    if n.changed and path ~= '' then
      if not n.listed and has_nothing_to_do(n) then list(listed, n, call.now + costs.FORGOTTEN) end
      if not n.is_stored and string.find(path, '/', 1, true) then
        nested[#nested + 1], nested[#nested + 2] = '0', path
      end
    end
  end
  text.call('ZADD', call.tag .. 'nn', nested)
  if call.before.idle > call.now then return listed end
  local most = call.looks_at_many and LOOKED_AT_MOST or LOOKED_AT + #listed / 2
  for _, path in ipairs(redis.call('ZRANGEBYSCORE', call.tag .. 'il', '-inf', call.now, 'LIMIT', '0', most)) do
    look_at(call, seats.node(call, path), listed)
  end
  return listed
end

-- This call looks at many. Returns how many there are for it and those behind it.
function M.look_at_many(call)
  call.looks_at_many = true
  call.before.idle = math.min(call.before.idle, call.now)  -- where that is lost, too
  return redis.call('ZCOUNT', call.tag .. 'il', '-inf', text.num(call.now))
end

-- What is wrong with how it stands there.
function M.faults_of(call, n)
  if not n.is_stored then return {} end
  local faults = {}
  if (n.listed or false) ~= (redis.call('ZSCORE', call.tag .. 'il', n.path) ~= false) or (not n.listed and not stays(call, n)) then
    faults[1] = 'has nothing, and would never be forgotten'
  end
  if string.find(n.path, '/', 1, true) and not redis.call('ZSCORE', call.tag .. 'nn', n.path) then
    faults[#faults + 1] = 'is not among those below another'
  end
  return faults
end
-- It is taken for one that was not there before.
function M.mend(call, n)
  n.listed, n.is_stored = redis.call('ZSCORE', call.tag .. 'il', n.path) ~= false, false
end

-- When the first of them is to be looked at.
function M.write(call, listed)
  text.call('ZADD', call.tag .. 'il', listed)
  local first = call.before.idle
  if first > call.now then return math.min(first, listed[1] or math.huge) end
  return tonumber(redis.call('ZRANGE', call.tag .. 'il', '0', '0', 'WITHSCORES')[2]) or math.huge
end

return M
