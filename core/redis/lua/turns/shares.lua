-- shares - what a shard uses of limits that count over all of them, and of which it lacks something.
local M = {}

local function used(call, name)
  local pool = string.sub(name, 3)
  if pool == '' then return seats.node(call, '').run end
  return pools.exists(call, pool) and pools.of(call, pool).run or 0
end

-- What it lacks that is in the way of a node.
local function short_of(call, n)
  local names, found = {lent.QUEUE}, {}
  for _, pool in ipairs(seats.pools_of(call, n)) do names[#names + 1] = lent.of_pool(pool) end
  for _, name in ipairs(names) do
    if call.lent[name] and lent.is_short(call.lent[name], used(call, name)) then found[#found + 1] = name end
  end
  return found
end

-- Of which it lacks something, so that somebody at `top` or below does not have the turn that is his.
local function add_wants(call, top, wants)
  call.foreseen = wants
  while true do
    local n = pick.next(call, top)
    local short = n and short_of(call, n) or {}
    if #short == 0 then break end
    for _, name in ipairs(short) do wants[name] = true end
  end
  call.foreseen = nil
end

-- As clients read it. `top`: of which somebody wants something, too.
function M.bytes(call, top)
  if not lent.any(call) then return lent.bytes(call) end
  local wants = {}
  add_wants(call, '', wants)
  if top ~= '' then add_wants(call, top, wants) end
  return lent.bytes(call, function(name) return used(call, name) end,
    function(name) return wants[name] and call.sums.ready or 0 end)
end

-- The limits of the queue and of its pools are these from now on.
function M.set_queue(call, most)
  if call.step ~= 1 then lent.set(call, lent.QUEUE, most, used(call, lent.QUEUE)) end
end
function M.set_pools(call)
  if call.step == 1 then return end
  local gone = {}
  for name in pairs(call.lent) do
    if name ~= lent.QUEUE and not pools.exists(call, string.sub(name, 3)) then gone[#gone + 1] = name end
  end
  for _, name in ipairs(gone) do call.lent[name] = nil end
  pools.each(call, function(pool, l) lent.set(call, lent.of_pool(pool), l.concurrency, used(call, lent.of_pool(pool))) end)
end

-- What is used was counted anew, and may be more than was lent.
function M.wrong(call)
  local found = {}
  for name, l in pairs(call.lent) do
    if used(call, name) > l.share then found[#found + 1] = name end
  end
  return found
end
function M.counted(call)
  for _, name in ipairs(M.wrong(call)) do lent.reset(call, name, used(call, name)) end
end
-- The server may have forgotten what it was lent, or what it has given.
function M.reset(call)
  for name in pairs(call.lent) do lent.reset(call, name, used(call, name)) end
end

function M.join(call, name, age, tag) lent.join(call, name, age, tag, used(call, name)) end
function M.give(call, name, age, tag, loan) lent.give(call, name, age, tag, loan, used(call, name)) end

return M
