-- pace - the time of a shard: that of its server's clock, and never less than it was.
--
-- Where the clock says less (it was ahead and is set right, or another server has taken over), time goes on from where it was, by one
-- part of 16 slower until the clock has caught up: what is delayed and what is leased goes on, nothing is undone, and times
-- told by the clock come right again by themselves. Until then what is to come at a time of the clock comes at that.
-- The root has `lead`: how far it was ahead, and what the clock said then. core/redis/waits/shard_time.h is its twin.
local M = {}
local SLOWER = 16
local DIGITS = 15  -- of what may be a time

-- nil: it is ahead of nothing, as far as can be read.
local function read(bytes)
  local lead, since = string.match(bytes or '', '^(%d+) (%d+)$')
  local is_told = lead and #lead <= DIGITS and #since <= DIGITS
  return is_told and {lead = tonumber(lead), since = tonumber(since)} or nil
end

local function lead_at(p, clock) return math.max(0, p.lead - math.floor(math.max(0, clock - p.since) / SLOWER)) end

-- What time it is where it was `before`, and how that goes on where the clock is not it (nil: it is).
function M.follow(bytes, before, clock)
  local p = read(bytes)
  local now = p and clock + lead_at(p, clock) or clock
  if now < before then return before, {lead = before - clock, since = clock, clock = clock, is_found = true} end
  if p then p.clock = clock end
  return now, p
end

-- The time now, of who makes no call.
function M.now(root)
  local told = redis.call('HMGET', root, 'now', 'lead')
  return (M.follow(told[2], tonumber(told[1]), time.read(root)))
end

-- The clock went back, and the root does not say so yet.
function M.is_behind(call) return call.pace ~= nil and call.pace.is_found == true end

-- What the clock says in a call, and what time it will be when it says that.
function M.clock(call) return call.pace and call.pace.clock or call.now end
function M.at(call, clock) return call.pace and clock + lead_at(call.pace, clock) or clock end

-- How it stands in the root; nil: as it is there.
function M.bytes(call)
  local p = call.pace
  if not p then return nil end
  if p.is_found then return text.num(p.lead) .. ' ' .. text.num(p.since) end
  return lead_at(p, p.clock) == 0 and '' or nil
end

return M
