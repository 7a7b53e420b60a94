-- shares - what a shard uses of limits that count over all of them, and of which it lacks something.
local M = {}

local function used(call, name)
  if name == lent.MESSAGES then return amounts.messages_of(call.sums) end
  if name == lent.BYTES then return call.sums.bytes end
  if lent.is_rate(name) then return 0 end
  local pool = lent.pool_of(name)
  if pool == '' then return seats.node(call, '').run end
  return pools.exists(call, pool) and pools.of(call, pool).run or 0
end

-- What it lacks that is in the way of a node.
local function short_of(call, n)
  local names, found = {lent.QUEUE, lent.QUEUE_RATE}, {}
  for _, pool in ipairs(seats.pools_of(call, n)) do
    names[#names + 1] = lent.of_pool(pool)
    names[#names + 1] = lent.rate_of_pool(pool)
  end
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

-- Starts are wanted where nothing else is lacking: what of them is not used at once goes back.
local function drop_early(call, top, wants)
  local rates = {}
  for name in pairs(wants) do
    if lent.is_rate(name) then rates[#rates + 1] = name end
  end
  if #rates == 0 then return end
  call.foreseen = {}
  for name in pairs(call.lent) do call.foreseen[name] = not lent.is_rate(name) end
  local is_early = not pick.next(call, '') and not (top ~= '' and pick.next(call, top))
  call.foreseen = nil
  for _, name in ipairs(is_early and rates or {}) do wants[name] = nil end
end

-- More than was lent is used where nobody asked whether there is room.
local function note_overdrawn(call)
  for _, name in ipairs({lent.MESSAGES, lent.BYTES}) do
    local l = call.lent[name]
    if l and used(call, name) > l.share then
      lent.reset(call, name, used(call, name))
      call.overdrawn = 1
    end
  end
end

-- As clients read it. `top`: of which somebody wants something, too.
function M.bytes(call, top)
  if not lent.any(call) then return lent.bytes(call) end
  lent.close_rates(call)
  note_overdrawn(call)
  local wants = {}
  if lent.any_of_runs(call) then
    add_wants(call, '', wants)
    if top ~= '' then add_wants(call, top, wants) end
    drop_early(call, top, wants)
  end
  return lent.bytes(call, function(name) return used(call, name) end,
    function(name) return wants[name] and call.sums.ready or 0 end)
end

local function set_rate(call, name, l)
  local interval, most = limits.take_rate(l)
  lent.set(call, name, most or math.huge, 0, interval)
end

-- The limits of the queue and of its pools are these from now on.
function M.set_queue(call, values, own)
  if call.step == 1 then return end
  local messages, bytes = amounts.most_of(values)
  local function set(name, most) lent.set(call, name, most >= 0 and most or math.huge, used(call, name)) end
  set(lent.QUEUE, own.concurrency)
  set_rate(call, lent.QUEUE_RATE, own)
  set(lent.MESSAGES, messages)
  set(lent.BYTES, bytes)
end
function M.set_pools(call)
  if call.step == 1 then return end
  local gone = {}
  for name in pairs(call.lent) do
    local pool = lent.pool_of(name)
    if pool and pool ~= '' and not pools.exists(call, pool) then gone[#gone + 1] = name end
  end
  for _, name in ipairs(gone) do lent.drop(call, name) end
  pools.each(call, function(pool, l)
    lent.set(call, lent.of_pool(pool), l.concurrency, used(call, lent.of_pool(pool)))
    set_rate(call, lent.rate_of_pool(pool), l)
  end)
end

-- Whose limit that is.
function M.title(name)
  if name == lent.MESSAGES then return 'the queue, max_messages' end
  if name == lent.BYTES then return 'the queue, max_bytes' end
  local who = lent.pool_of(name) == '' and 'the queue' or 'pool ' .. lent.pool_of(name)
  return lent.is_rate(name) and who .. ', rate' or who
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
  for name, l in pairs(call.lent) do
    lent.reset(call, name, used(call, name))
    if l.tag == lent.FRESH then l.tag = lent.FRESH + 1 end
  end
end

function M.join(call, name, age, tag) lent.join(call, name, age, tag, used(call, name)) end
function M.give(call, name, age, tag, loan) lent.give(call, name, age, tag, loan, used(call, name)) end

return M
