-- pace - the time of a shard: that of its server's clock, and never less than it was.
--
-- Where the clock says less (it was ahead and is set right, or another server has taken over), time goes on from where it was, by one
-- part of 16 slower until the clock has caught up: what is delayed and what is leased goes on, nothing is undone, and times
-- told by the clock come right again by themselves. Until then what is to come at a time of the clock comes at that. Of a time in which
-- nobody called it is not known whether it went by or the clock was set, so it counts as a minute at the most, and the rest of it has
-- caught up.
-- The root has `lead`: by how many sixteenths of a ms it is ahead, and what the clock said then. core/redis/waits/shard_time.h is its twin.
local M = {}
local SLOWER = 16
local UNCALLED = 60000  -- so much goes by of a time in which nobody called; who waits calls before
local CALLED = 30000
local SLACK = 1000      -- a clock that goes back by no more is waited for
local DIGITS = 15       -- of what may be a time

-- nil: it is ahead of nothing, as far as can be read.
local function read(bytes)
  local lead, since = string.match(bytes or '', '^(%d+) (%d+)$')
  local is_told = lead and #lead <= DIGITS + 1 and #since <= DIGITS
  return is_told and {lead = tonumber(lead), since = tonumber(since)} or nil
end

local function left(p, clock)
  local ms = math.max(0, clock - p.since)
  local goes_by = math.min(ms, UNCALLED)
  return math.max(0, p.lead - goes_by - SLOWER * (ms - goes_by))
end

-- What time it is where it was `before`, and how far that is ahead of the clock; nil: it was not.
function M.follow(bytes, before, clock)
  local p = read(bytes)
  local lead = p and left(p, clock) or 0
  local now = clock + math.floor(lead / SLOWER)
  if now < before - SLACK then return before, {lead = SLOWER * (before - clock), since = clock, is_found = true} end
  return math.max(before, now), p and {lead = lead, since = clock, is_late = lead > 0 and clock - p.since > CALLED}
end

-- The time now, of who makes no call.
function M.now(root)
  local told = redis.call('HMGET', root, 'now', 'lead')
  return (M.follow(told[2], tonumber(told[1] or 0), time.read(root)))
end

-- The clock went back, or time has to be told by a call.
function M.is_found(call) return call.pace ~= nil and call.pace.is_found == true end
function M.wants_call(call) return M.is_found(call) or (call.pace ~= nil and call.pace.is_late) end

-- What the clock says in a call, and what time it will be when it says that.
function M.clock(call) return call.pace and call.pace.since or call.now end
function M.at(call, clock)
  local p = call.pace
  if not p then return clock end
  return clock + math.floor(math.max(0, p.lead - math.max(0, clock - p.since)) / SLOWER)
end

-- What the clock says at a time to come, as far as is known now: for other servers, and for who carries it to one.
function M.by_clock(call, at) return at - call.now + M.clock(call) end

-- By how much it is ahead, in ms.
function M.lead(call) return call.pace and call.pace.lead / SLOWER or 0 end

-- How it stands in the root; nil: it is nothing, and was.
function M.bytes(call)
  local p = call.pace
  if not p then return nil end
  return p.lead > 0 and text.num(p.lead) .. ' ' .. text.num(p.since) or ''
end

return M
