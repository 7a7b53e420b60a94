-- limits - how many may run at once, and how often one may start: of a node, or of a pool.
--
-- A rate is a bucket of credit in nanoseconds: a start takes one interval, and time brings it back.
local M = {}
local NS = 1000000  -- of a millisecond
local CONCURRENCY, RATE, BURST = 17, 18, 19  -- PolicyKey
M.KEYS = {[CONCURRENCY] = true, [RATE] = true, [BURST] = true}

-- What a value says how many there may be. What is unlimited says 2^63, and nobody can count beyond 2^53.
local COUNTABLE = 9007199254740992
function M.most(value) return value and value[1] < COUNTABLE and value[1] or math.huge end

function M.new() return {concurrency = math.huge, rate_count = 0, rate_span = 0, burst = 1, credit = 0, credit_at = 0} end
-- Of most nodes, and never written: set() makes another one of it.
M.USUAL = {concurrency = 1 / 0, rate_count = 0, rate_span = 0, burst = 1, credit = 0, credit_at = 0}
function M.is_usual(l)
  return l == M.USUAL or (l.concurrency == math.huge and l.rate_count == 0 and l.burst == 1)
end

local function interval(l) return math.ceil(l.rate_span * NS / l.rate_count) end

-- A bucket holds its burst, and at least what a millisecond brings.
local function depth(l) return math.max(l.burst, math.ceil(NS / interval(l))) * interval(l) end

local function fill(l, now)
  if l.rate_count == 0 then return end
  l.credit = math.min(depth(l), l.credit + (now - l.credit_at) * NS)
  l.credit_at = now
end

function M.take(l, now)
  if l.rate_count == 0 then return end
  fill(l, now)
  l.credit = l.credit - interval(l)
end

-- When the next one may start, as far as the rate says; 0: now.
function M.token_at(l)
  if l.rate_count == 0 then return 0 end
  local missing = interval(l) - math.min(l.credit, depth(l))
  return missing <= 0 and 0 or l.credit_at + math.ceil(missing / NS)
end

-- When its bucket is full, and so like a new one.
function M.full_at(l)
  if l.rate_count == 0 then return 0 end
  return l.credit_at + math.ceil(math.max(0, depth(l) - l.credit) / NS)
end

-- How many may start at `now`, as far as the rate says.
function M.tokens(l, now)
  if l.rate_count == 0 then return math.huge end
  return math.max(0, math.floor(math.min(depth(l), l.credit + (now - l.credit_at) * NS) / interval(l)))
end

-- Interval of a rate and how many its bucket holds, for whoever counts over shards; nil: there is none. It holds here no
-- more.
function M.take_rate(l)
  if l.rate_count == 0 then return nil end
  local between, most = interval(l), depth(l) / interval(l)
  l.rate_count, l.rate_span = 0, 0
  return between, most
end

-- Other values hold; `values`: by key, one that is missing is the usual. Returns what they are kept in.
function M.set(l, values, now)
  if l == M.USUAL then l = M.new() end
  fill(l, now)
  local count, before, before_depth = l.rate_count, nil, nil
  if count > 0 then before, before_depth = interval(l), depth(l) end
  local rate = M.most(values[RATE]) < math.huge and values[RATE]
  l.concurrency = M.most(values[CONCURRENCY])
  l.burst = values[BURST] and values[BURST][1] or 1
  l.rate_count, l.rate_span = rate and rate[1] or 0, rate and rate[2] or 0
  if l.rate_count == 0 then return l end
  -- What was taken before another rate is paid. What was missing in a bucket is missing in a larger one.
  if not before or before ~= interval(l) then
    l.credit, l.credit_at = depth(l), now
  else
    l.credit = l.credit + depth(l) - before_depth
  end
  return l
end

-- Whether they let as many through, whatever is left of them.
function M.are_same(one, other)
  return one.concurrency == other.concurrency and one.rate_count == other.rate_count and
    one.rate_span == other.rate_span and one.burst == other.burst
end

M.interval = interval

return M
