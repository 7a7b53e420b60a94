-- bucket - of a rate that counts over all shards of a queue: the starts that no shard has, in its purse.
--
-- What is missing in it is counted in nanoseconds, as limits.lua does: a start takes one interval, and time brings it back. A
-- shard uses a loan in the call that brings it, or not at all, and tells how many it has left of it and when that was. Until
-- then all of the loan counts as still in the bucket, which time fills no further: so in any time no more start than
-- from one bucket. A loan of which nobody tells is as good as used once no shard would take it any more.
local M = {}
local NS = 1000000  -- of a millisecond

local function lent_by(p)
  local sum = 0
  for _, each in pairs(p.bounds) do sum = sum + each.bound end
  return sum
end

local function missing_at(p, now)
  return math.max(lent_by(p) * p.interval, p.missing - math.max(0, now - p.at) * NS)
end
local function fill(p, now)
  if now <= p.at then return end
  p.missing, p.at, p.has_other_head = missing_at(p, now), now, true
end

-- At: since when it is filled; closed, less than nothing: since when it is that.
function M.is_open(p) return p.at >= 0 end

-- An epoch begins. The bucket is as it was; full, where the rate was set since (`l`: what its shard knows of it); else empty,
-- where something may have been forgotten. It is closed, and time does not fill it, while a loan of before may be used:
-- before all shards have told, or none would take one any more.
function M.begin(call, p, l)
  if l and l.loans < 0 and l.tag == lent.FRESH then
    p.missing, p.interval = 0, 0
  elseif p.run ~= call.run then
    p.missing, p.interval = math.huge, 0
  elseif M.is_open(p) then
    fill(p, call.now)
  end
  p.at = -call.now
end
-- The rate of that epoch; 0: it is another limit.
function M.set(p, most, interval)
  if p.interval ~= interval and p.interval ~= 0 then p.missing = math.huge end
  p.most, p.interval, p.missing = most, interval, math.min(p.missing, most * interval)
end
-- `l`: what its shard knows, which has told, so that the bucket is full only once.
function M.open(p, now, all_have_told, l)
  local none_takes = p.interval > 0 and now > lent.LASTS - p.at and l and l.loans >= 0
  if not M.is_open(p) and (all_have_told or none_takes) then p.at, p.has_other_head = now, true end
end

-- What has become of loans, as shards tell, in the order in which that was.
function M.hear(call, p, all)
  local over, told = {}, {}
  for _, t in ipairs(all) do
    local b = p.bounds[t.shard]
    if b and b.bound > 0 and t.age == p.age and t.tag == p.tag and t.loans >= b.loans then
      local left = t.loans == b.loans and (t.since == 0 and b.bound or math.min(t.share, b.bound)) or 0
      over[#over + 1], told[t.shard] = {math.max(b.at, math.min(t.since, call.now)), t.shard, left}, true
    end
  end
  for shard, b in pairs(p.bounds) do
    if b.bound > 0 and not told[shard] and call.now > b.at + lent.LASTS then over[#over + 1] = {b.at + lent.LASTS, shard, 0} end
  end
  table.sort(over, function(x, y) return x[1] < y[1] or (x[1] == y[1] and x[2] < y[2]) end)
  for _, each in ipairs(over) do
    local at, shard, left = unpack(each)
    fill(p, at)
    p.missing, p.has_other_head = p.missing - left * p.interval, true
    p.bounds[shard].bound, p.changed[shard] = 0, true
  end
end

-- How many may start now.
function M.free(p, now)
  if not M.is_open(p) then return 0 end
  return math.floor((p.most * p.interval - missing_at(p, now)) / p.interval)
end
-- `count` of them are lent.
function M.take(p, count, now)
  fill(p, now)
  p.missing, p.has_other_head = p.missing + count * p.interval, true
end

-- When there is one again where there is none now, or when what has become of a loan may be known: `late` after it;
-- math.huge: nobody knows.
function M.token_at(p, now, late)
  if not M.is_open(p) then return math.huge end
  local first = p.at + math.ceil(math.max(0, p.missing - (p.most - 1) * p.interval) / NS)
  if first <= now then first = math.huge end
  for _, b in pairs(p.bounds) do
    if b.bound > 0 then first = math.min(first, b.at + late > now and b.at + late or b.at + lent.LASTS + 1) end
  end
  return first
end

return M
