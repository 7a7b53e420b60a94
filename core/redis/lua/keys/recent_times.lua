-- recent_times - how long messages of one tenant waited until they were first taken ('w'), and ran until a verdict ('r').
--
-- Of each the longest, then a byte for how many there were below 1 ms, one for those from 1 ms, from 2, from 4 and so on; the
-- last has all that were longer. When one is full all are halved, so they speak of recent times. The longest are two: since
-- they were halved last, and between then and the time before; what is longer than the latter goes where they are halved.
-- core/redis/views/time_counts.h reads them.
local M = {}
local BUCKETS = 24
local AT = {w = 0, r = 8 + BUCKETS}
local BYTES = 2 * (8 + BUCKETS)
local MOST = 2047 * 2 ^ 31
local LONGEST = '<I2I2I4'
local ARE_TWO = 2 ^ 31  -- with them it is a number below 0, and so none that older versions of fq wrote as the longest of all

-- A byte of a text is written over: to unpack all and to pack them again costs ten times as much.
local function with(times, at, bytes) return string.sub(times, 1, at - 1) .. bytes .. string.sub(times, at + #bytes) end

local function width_of(ms)
  local _, width = math.frexp(ms)
  return width
end
local function bucket_of(ms) return math.min(width_of(ms), BUCKETS - 1) end

-- A time as 16 bits, never shorter: see core/base/time/short_time.h.
local function short(ms)
  if not (ms > 0) then return 0 end
  ms = math.min(ms, MOST)
  local shift = math.max(0, width_of(ms) - 11)
  local number = math.ceil(ms / 2 ^ shift)
  if number == 2048 then number, shift = 1024, shift + 1 end
  return 32 * number + shift
end
local function ms_of(time) return math.floor(time / 32) * 2 ^ (time % 32) end

local function longest_in(times, at)
  local longest, before, mark = struct.unpack(LONGEST, times, at)
  if mark == ARE_TWO then return longest, before end
  return short((struct.unpack('<d', times, at))), 0
end

local function halved(times, at, longest)
  local counts, last = {string.byte(times, at, at + BUCKETS - 1)}, bucket_of(ms_of(longest)) + 1
  for i, count in ipairs(counts) do counts[i] = i <= last and math.floor(count / 2) or 0 end
  return with(times, at, string.char(unpack(counts)))
end

-- `tenant`: what is counted of it, see sums.lua.
function M.note(tenant, kind, ms)
  local at, times = AT[kind] + 1, tenant.times
  if #times < BYTES then times = string.rep('\0', BYTES) end
  local first, longest, before = at + 8, longest_in(times, at)
  local bucket = first + bucket_of(ms)
  local is_full = string.byte(times, bucket) == 255
  if is_full then times, before = halved(times, first, longest), longest end
  times = with(times, bucket, string.char(string.byte(times, bucket) + 1))
  if is_full or ms > ms_of(longest) then times = with(times, at, struct.pack(LONGEST, short(ms), before, ARE_TWO)) end
  tenant.times = times
end

return M
