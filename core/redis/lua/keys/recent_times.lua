-- recent_times - how long messages of one tenant waited until they were first taken ('w'), and ran until a verdict ('r').
--
-- Of each the longest, then a byte for how many there were below 1 ms, one for those from 1 ms, from 2, from 4 and so on; the
-- last has all that were longer. When one is full all are halved, so they speak of recent times.
-- core/redis/views/time_counts.h reads them.
local M = {}
local BUCKETS = 24
local AT = {w = 0, r = 8 + BUCKETS}
local BYTES = 2 * (8 + BUCKETS)

-- A byte of a text is written over: to unpack all and to pack them again costs ten times as much.
local function with(times, at, bytes) return string.sub(times, 1, at - 1) .. bytes .. string.sub(times, at + #bytes) end

local function halved(times, at)
  local counts = {string.byte(times, at, at + BUCKETS - 1)}
  for i, count in ipairs(counts) do counts[i] = math.floor(count / 2) end
  return with(times, at, string.char(unpack(counts)))
end

-- `tenant`: what is counted of it, see sums.lua.
function M.note(tenant, kind, ms)
  local at, _, width = AT[kind] + 1, math.frexp(ms)
  local first, times = at + 8, tenant.times
  local bucket = first + math.min(width, BUCKETS - 1)
  if #times < BYTES then times = string.rep('\0', BYTES) end
  if string.byte(times, bucket) == 255 then times = halved(times, first) end
  times = with(times, bucket, string.char(string.byte(times, bucket) + 1))
  if struct.unpack('<d', times, at) < ms then times = with(times, at, struct.pack('<d', ms)) end
  tenant.times = times
end

return M
