-- lent - of limits that count over all shards of a queue: what this one has been lent of each.
--
-- Such a limit is cut into units. A shard uses no more of them than its share; those that no shard has lie in the limit's
-- purse, see purse.lua. Clients carry them, and may die or come late with any: a share grows only by the next loan of the
-- epoch that it is of, and each loan has its number there.
--   age, tag: the epoch; loans: so many it has had in it (-1: its share is of none, and does not grow); share; most: the
--   limit as this shard knows it. By name: what is counted, ':', and the pool whose limit it is ('': the queue's own).
-- What ends makes room for what is of the same shard. What is not asked whether there is room for it, as what is kicked,
-- may use more than the share: then all shards are counted anew.
-- Of a rate the units are starts, and a loan is there for the call that brings it: a share is what is left of the last one,
-- which nobody uses any more. The interval, and when the last loan came (0: it came too late), are told with it.
-- They lie in the root, where clients read them without a call, each with what is used of it and whether more is wanted.
local M = {}
M.LASTS = 5000              -- so many ms a loan of a rate may be on its way, by the clocks of both servers
M.FRESH = 0                 -- a tag: it, or its interval, was set since it was of an epoch, on a server that has forgotten nothing
local LENT = '<dddddddddH'  -- age, tag, loans, share, most, used, wanted, interval, since, bytes of the name

-- Nothing is set where nothing is lent: see calls.look about its fields.
-- Behind the age of the latest epoch that this shard knows of: what is of an earlier one comes too late.
function M.read(call, bytes)
  call.lent = {}
  if bytes == '' then return end
  call.lent_before = bytes
  local at = 9
  call.lent_age = struct.unpack('<d', bytes)
  while at <= #bytes do
    local l, _, name_bytes, from = {}, nil, nil, nil
    l.age, l.tag, l.loans, l.share, l.most, _, _, l.interval, l.since, name_bytes, from = struct.unpack(LENT, bytes, at)
    at = from + name_bytes
    call.lent[string.sub(bytes, from, at - 1)] = l
  end
end

-- `used`, `wanted`: of a name.
function M.bytes(call, used, wanted)
  if not call.lent_age then return '' end
  local names = {}
  for name in pairs(call.lent) do names[#names + 1] = name end
  if #names == 0 and call.lent_age == 0 then return '' end
  table.sort(names)
  local parts = {struct.pack('<d', call.lent_age)}
  for _, name in ipairs(names) do
    local l, uses = call.lent[name], used(name)
    if l.loans <= 0 then l.share = math.min(l.share, uses) end
    parts[#parts + 1] = struct.pack(LENT, l.age, l.tag, l.loans, l.share, l.most, uses, wanted(name), l.interval,
      l.since, #name) .. name
  end
  return table.concat(parts)
end

-- What is counted: what runs, and what starts; and of the queue, messages and bytes that it holds.
local RUNNING, RATE = 'c:', 'r:'
M.QUEUE, M.QUEUE_RATE = RUNNING, RATE
M.MESSAGES, M.BYTES = 'm:', 'b:'
function M.of_pool(pool) return RUNNING .. pool end
function M.rate_of_pool(pool) return RATE .. pool end
function M.is_rate(name) return string.sub(name, 1, 2) == RATE end
-- nil: it is no limit of what runs or starts.
function M.pool_of(name)
  return (string.sub(name, 1, 2) == RUNNING or M.is_rate(name)) and string.sub(name, 3) or nil
end

function M.any(call) return next(call.lent) ~= nil end
function M.any_of_runs(call)
  for name in pairs(call.lent) do
    if M.pool_of(name) then return true end
  end
  return false
end

-- Whether its share has room for one more of what is used. Before the first loan of an epoch nothing that ends makes room:
-- all shards together may use more than a limit that was lowered.
function M.is_short(l, used) return l.loans <= 0 or used >= l.share or (l.interval > 0 and not l.is_here) end
-- `call.foreseen`: only of these names that is asked; the others may be lent more.
function M.has_room(call, name, used)
  local l = call.lent[name]
  return not l or not M.is_short(l, used) or (call.foreseen and not call.foreseen[name]) or false
end

-- How much is lacking where `had` was used before, and so much is to be; nil: it is no limit over shards.
function M.lacks(call, name, had, used)
  local l = call.lent[name]
  if not l then return nil end
  return used - (l.loans <= 0 and math.min(l.share, had) or l.share)
end

-- From now on its share is what is used of it, and of no epoch: all shards are counted anew.
function M.reset(call, name, used)
  local l = call.lent[name]
  l.age, l.loans, l.share = call.lent_age, -1, used
end

-- One of a rate starts.
function M.start(call, name)
  local l = call.lent[name]
  if l and l.is_here then l.share = math.max(0, l.share - 1) end
end
-- Of a rate nothing starts any more in this call.
function M.close_rates(call)
  for _, l in pairs(call.lent) do l.is_here = false end
end

-- It is no limit any more. The purse of one that comes again, as one that was lost, lends nothing before all have told anew.
function M.drop(call, name)
  if not call.lent[name] then return end
  call.lent[name] = nil
  call.purses_over = call.purses_over or {}
  call.purses_over[name] = true
end
function M.purse_key(call, name) return call.tag .. 'pu:' .. name end
function M.write(call)
  for name in pairs(call.purses_over or {}) do
    if not call.lent[name] then redis.call('UNLINK', M.purse_key(call, name)) end
  end
end

-- So many there are in all shards together (math.huge: nothing is counted). `interval`: of a rate.
function M.set(call, name, most, used, interval)
  local l = call.lent[name]
  interval = interval or 0
  if most == math.huge then
    M.drop(call, name)
  elseif not l or l.most ~= most or l.interval ~= interval then
    local is_new = not l or l.interval ~= interval or l.tag == M.FRESH
    call.lent[name] = {most = most, tag = is_new and M.FRESH or M.FRESH + 1, interval = interval, since = 0}
    call.lent_age = call.lent_age or 0
    M.reset(call, name, used)
  end
end

-- It is of this epoch from now on, where that is a later one. What it does not use it has no more.
function M.join(call, name, age, tag, used)
  local l = call.lent[name]
  if not l or age <= l.age then return end
  l.age, l.tag, l.loans, l.share = age, tag, 0, used
  call.lent_age = math.max(call.lent_age, age)
end

-- One before it may have been lost.
local function take_starts(call, l, loan, more, until_)
  if loan <= l.loans then return end
  l.loans, l.share, l.since, l.is_here = loan, more, call.now, pace.clock(call) <= until_
end
-- The loan of this number: `more` units.
function M.take(call, name, age, tag, loan, more, until_)
  local l = call.lent[name]
  if not l or l.age ~= age or l.tag ~= tag or l.loans < 0 then return end
  if l.interval > 0 then return take_starts(call, l, loan, more, until_) end
  if loan == l.loans + 1 then l.loans, l.share = loan, l.share + more end
end

-- Loans as clients carry them: of each the epoch, its number, how many, until when it may come, and of what.
local LOAN = '<dddddH'
function M.take_all(call, bytes, at)
  while at <= #bytes do
    local age, tag, loan, more, until_, name_bytes, from = struct.unpack(LOAN, bytes, at)
    at = from + name_bytes
    M.take(call, string.sub(bytes, from, at - 1), age, tag, loan, more, until_)
  end
end

-- What it does not use it has no more. Loans up to this number come too late.
function M.give(call, name, age, tag, loan, used)
  local l = call.lent[name]
  if not l or l.age ~= age or l.tag ~= tag or l.loans < 0 then return end
  if l.interval > 0 and loan > l.loans then l.share, l.since = 0, 0 end
  l.loans, l.share = math.max(l.loans, loan), l.interval > 0 and l.share or math.min(l.share, used)
end

return M
