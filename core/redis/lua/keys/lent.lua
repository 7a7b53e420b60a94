-- lent - of limits that count over all shards of a queue: what this one has been lent of each.
--
-- Such a limit is cut into units. A shard uses no more of them than its share; those that no shard has lie in the limit's
-- purse, see purse.lua. Clients carry them, and may die or come late with any: a share grows only by the next loan of the
-- epoch that it is of, and each loan has its number there.
--   age, tag: the epoch; loans: so many it has had in it (-1: its share is of none, and does not grow); share; most: the
--   limit as this shard knows it. By name: what is counted, ':', and the pool whose limit it is ('': the queue's own).
-- What ends makes room for what is of the same shard. What is not asked whether there is room for it, as what is kicked,
-- may use more than the share: then all shards are counted anew.
-- They lie in the root, where clients read them without a call, each with what is used of it and whether more is wanted.
local M = {}
local LENT = '<dddddddH'  -- age, tag, loans, share, most, used, wanted, bytes of the name

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
    l.age, l.tag, l.loans, l.share, l.most, _, _, name_bytes, from = struct.unpack(LENT, bytes, at)
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
    parts[#parts + 1] = struct.pack(LENT, l.age, l.tag, l.loans, l.share, l.most, uses, wanted(name), #name) .. name
  end
  return table.concat(parts)
end

-- What is counted: what runs; and of the queue, messages and bytes that it holds.
local RUNNING = 'c:'
M.QUEUE = RUNNING
M.MESSAGES, M.BYTES = 'm:', 'b:'
function M.of_pool(pool) return RUNNING .. pool end
-- nil: it is no limit of what runs.
function M.pool_of(name) return string.sub(name, 1, 2) == RUNNING and string.sub(name, 3) or nil end

function M.any(call) return next(call.lent) ~= nil end
function M.any_of_runs(call)
  for name in pairs(call.lent) do
    if M.pool_of(name) then return true end
  end
  return false
end

-- Whether its share has room for one more of what is used. Before the first loan of an epoch nothing that ends makes room:
-- all shards together may use more than a limit that was lowered.
function M.is_short(l, used) return l.loans <= 0 or used >= l.share end
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

-- So many there are in all shards together (math.huge: nothing is counted).
function M.set(call, name, most, used)
  local l = call.lent[name]
  if most == math.huge then
    call.lent[name] = nil
  elseif not l or l.most ~= most then
    call.lent[name], call.lent_age = {most = most, tag = 0}, call.lent_age or 0
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

-- The loan of this number: `more` units.
function M.take(call, name, age, tag, loan, more)
  local l = call.lent[name]
  if not l or l.age ~= age or l.tag ~= tag or l.loans < 0 or loan ~= l.loans + 1 then return end
  l.loans, l.share = loan, l.share + more
end

-- Loans as clients carry them: of each the epoch, its number, how many, and of what.
local LOAN = '<ddddH'
function M.take_all(call, bytes, at)
  while at <= #bytes do
    local age, tag, loan, more, name_bytes, from = struct.unpack(LOAN, bytes, at)
    at = from + name_bytes
    M.take(call, string.sub(bytes, from, at - 1), age, tag, loan, more)
  end
end

-- What it does not use it has no more. Loans up to this number come too late.
function M.give(call, name, age, tag, loan, used)
  local l = call.lent[name]
  if not l or l.age ~= age or l.tag ~= tag or l.loans < 0 then return end
  l.loans, l.share = math.max(l.loans, loan), math.min(l.share, used)
end

return M
