-- histograms - how long messages of the queue waited until they were first taken ('w'), and ran until a verdict ('r').
--
-- A hash has how many there were in each bucket, the sum of all times and the longest. Below 32 ms a bucket is one
-- millisecond, above it each power of two is cut into 16. core/redis/views/time_counts.h reads them.
local M = {}

local function bucket_of(ms)
  local octave = 0
  while ms >= 32 do ms, octave = math.floor(ms / 2), octave + 1 end
  return octave == 0 and ms or 32 + 16 * (octave - 1) + ms - 16
end

function M.note(call, kind, ms)
  local times = call.times[kind] or {sum = 0, longest = 0, buckets = {}}
  call.times[kind] = times
  local bucket = bucket_of(ms)
  times.buckets[bucket] = (times.buckets[bucket] or 0) + 1
  times.sum, times.longest = times.sum + ms, math.max(times.longest, ms)
end

-- Fields and values of all.
function M.all(call) return redis.call('HGETALL', call.tag .. 'hg') end

function M.write(call)
  local names, values, fields = {}, {}, {}
  for kind, times in pairs(call.times) do
    for bucket, count in pairs(times.buckets) do names[#names + 1], values[#values + 1] = kind .. bucket, count end
    names[#names + 1], values[#values + 1] = kind .. 's', times.sum
    names[#names + 1], values[#values + 1] = kind .. 'm', times.longest
  end
  if #names == 0 then return end
  local before = redis.call('HMGET', call.tag .. 'hg', unpack(names))
  for i, name in ipairs(names) do
    local had, value = tonumber(before[i] or 0) or 0, values[i]
    if string.sub(name, 2) == 'm' then value = math.max(had, value) else value = had + value end
    if value ~= had then fields[#fields + 1], fields[#fields + 2] = name, text.num(value) end
  end
  text.call('HSET', call.tag .. 'hg', fields)
end

return M
