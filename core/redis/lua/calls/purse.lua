-- purse - of a limit that counts over all shards of a queue: the units that no shard has, and how many each may have.
--
-- It lies in one of the shards. Of each shard it keeps an upper bound of that one's share; all these together are never
-- above the limit because of it. A loan raises the bound first, then a client carries it; a shard lowers its share first,
-- then a client tells so. Whatever is lost on the way is units that nobody uses, until the shard is told of again.
--
-- What it knows is of an epoch. A new one begins where the limit is another, or where this server or one of a shard may
-- have forgotten something; in it nothing is lent before each shard has said what it uses.
--
-- Of a rate the units are starts, see bucket.lua: what of a loan its shard has left is there again.
local M = {}
local HEAD = '<dddddd'         -- age, tag, most (-1: nobody has said it yet); of a bucket interval, what is missing, since when
local BOUND = '<dddd'          -- of a shard: bound, loans, the last one, when that was
local TOLD = '<dddddddd'       -- what is told of a shard: which, age, tag, loans, share, most, interval, since
local TOLD_BYTES = 64
local ASK = '<ddddd'           -- shards, who asks, how many it wants, the age that it knows of, a tag for a new epoch
local LATE = 1000              -- after so long a loan that did not arrive is taken back

local function read(call, name)
  local p = {name = name, key = lent.purse_key(call, name), bounds = {}, count = 0, changed = {}}
  local all = redis.call('HGETALL', p.key)
  for i = 1, #all, 2 do
    if all[i] == 'head' then
      p.age, p.tag, p.most, p.interval, p.missing, p.at = struct.unpack(HEAD, all[i + 1])
    elseif all[i] == 'run' then
      p.run = all[i + 1]
    else
      local b = {}
      b.bound, b.loans, b.last, b.at = struct.unpack(BOUND, all[i + 1])
      p.bounds[tonumber(all[i])], p.count = b, p.count + 1
    end
  end
  return p
end

local function begin(call, p, age, tag)
  bucket.begin(call, p, call.lent[p.name])
  p.age, p.tag, p.most, p.run, p.bounds, p.count, p.changed, p.is_new = age, tag, -1, call.run, {}, 0, {}, true
end

local function is_rate(p) return p.interval > 0 end

local function read_told(bytes)
  local all = {}
  for at = 1, #bytes, TOLD_BYTES do
    local t = {}
    t.shard, t.age, t.tag, t.loans, t.share, t.most, t.interval, t.since = struct.unpack(TOLD, bytes, at)
    all[#all + 1] = t
  end
  return all
end

-- Whether it shows that a new epoch has to begin: it is of a later one, or was of this one and is so no more.
local function is_beyond(p, t)
  if t.age ~= p.age then return t.age > p.age end
  return t.tag ~= p.tag or t.loans < 0
end

-- A share is not above what was told before a loan and that loan. False: it knows another limit.
local function note(p, t)
  if t.age ~= p.age or t.tag ~= p.tag then return true end
  if p.most < 0 then
    bucket.set(p, t.most, t.interval)
    p.is_new = true
  end
  if p.most ~= t.most or p.interval ~= t.interval then return false end
  local b = p.bounds[t.shard]
  if not b then
    b = {bound = is_rate(p) and 0 or t.share, loans = t.loans, last = 0, at = 0}
    p.bounds[t.shard], p.count, p.changed[t.shard] = b, p.count + 1, true
  end
  if is_rate(p) then
    if t.loans > b.loans then b.loans, p.changed[t.shard] = t.loans, true end
    return true
  end
  local bound = b.bound
  if t.loans >= b.loans then bound, b.loans = math.min(bound, t.share), t.loans end
  if t.loans == b.loans - 1 then bound = math.min(bound, t.share + b.last) end
  if bound ~= b.bound then b.bound, p.changed[t.shard] = bound, true end
  return true
end

-- All that is told. False: one knows another limit.
local function hear(call, p, all)
  if is_rate(p) then bucket.hear(call, p, all) end
  for _, t in ipairs(all) do
    if not note(p, t) then return false end
  end
  return true
end

local function write(p)
  if p.is_new then redis.call('UNLINK', p.key) end
  if p.is_new or p.has_other_head then
    redis.call('HSET', p.key, 'head', struct.pack(HEAD, p.age, p.tag, p.most, p.interval, p.missing, p.at), 'run', p.run)
  end
  if p.is_new then
    for shard in pairs(p.bounds) do p.changed[shard] = true end
  end
  for shard in pairs(p.changed) do
    local b = p.bounds[shard]
    redis.call('HSET', p.key, text.num(shard), struct.pack(BOUND, b.bound, b.loans, b.last, b.at))
  end
end

local function epoch(p) return struct.pack('<dd', p.age, p.tag) end

-- Shards that have not said yet what they use; of a bucket that is open, the one that asks.
local function missing(p, shards, who)
  local found = {}
  if is_rate(p) and bucket.is_open(p) then return p.bounds[who] and {} or {who} end
  for shard = 0, shards - 1 do
    if not p.bounds[shard] then found[#found + 1] = shard end
  end
  return found
end

-- Those whose last loan has not arrived, as far as is told, and is late: shard and its number.
local function late(call, p, all)
  local found = {}
  for _, t in ipairs(all) do
    local b = p.bounds[t.shard]
    if t.age == p.age and t.tag == p.tag and t.loans < b.loans and call.now - b.at >= LATE then
      found[#found + 1] = t.shard
      found[#found + 1] = text.num(b.loans)
    end
  end
  return found
end

local function free(call, p)
  if is_rate(p) then return bucket.free(p, call.now) end
  local left = p.most
  for _, each in pairs(p.bounds) do left = left - each.bound end
  return left
end

-- As other servers can hold it against their clocks.
local function by_clock(call, at) return text.num(pace.by_clock(call, at)) end

local function loan(call, p, b)
  return {'loan', epoch(p), text.num(b.loans), text.num(b.last), is_rate(p) and by_clock(call, b.at + lent.LASTS) or '0'}
end

-- `told`: of that shard, in this epoch.
local function lend(call, p, shard, want, told)
  local b = p.bounds[shard]
  if not told then return nil end
  -- Somebody has it on the way, or had, and it is not lost.
  if told.loans < b.loans and (b.bound > 0 or not is_rate(p)) then return loan(call, p, b) end
  local more = math.min(want, free(call, p))
  if more <= 0 then return nil end
  if is_rate(p) then bucket.take(p, more, call.now) end
  b.bound, b.loans, b.last, b.at, p.changed[shard] = b.bound + more, b.loans + 1, more, call.now, true
  return loan(call, p, b)
end

-- When the next one may start, as it is told: '': it has no rate; -1: nobody knows.
local function told_token(call, p)
  if not is_rate(p) then return '' end
  local at = bucket.free(p, call.now) > 0 and call.now or bucket.token_at(p, call.now, LATE)
  return at < math.huge and by_clock(call, at) or '-1'
end

-- name, what is told of shards: its epoch, and of each shard which, its bound, and how many loans it has had; and when the
-- next one may start.
function M.look(call, args)
  local p, found = read(call, args[2]), {}
  if not p.age then return {'', found, ''} end
  hear(call, p, read_told(args[3]))
  for shard, b in pairs(p.bounds) do
    for _, each in ipairs({shard, b.bound, b.loans}) do found[#found + 1] = text.num(each) end
  end
  return {epoch(p), found, told_token(call, p)}
end

-- name, what is asked, what is told of shards. Answers 'join' and an epoch, and of which shards what they use has to be told
-- in it; 'loan', its epoch, its number, how many, and until when one of a rate may be brought; 'none', its epoch, of which
-- shards a loan is late, with its number, and when the next one may start; or 'later': the limit is about to be another.
function M.ask(call, args)
  -- Of another policy than its shard has.
  if not call.lent[args[4]] then return {'none', '', {}, ''} end
  local shards, who, want, age, tag = struct.unpack(ASK, args[5])
  local p, all, asker = read(call, args[4]), read_told(args[6]), nil
  if p.run ~= call.run then begin(call, p, math.max(p.age or 0, age, call.now) + 1, tag) end
  for _, t in ipairs(all) do
    if is_beyond(p, t) then begin(call, p, t.age + 1, tag) end
  end
  local answer = nil
  if not hear(call, p, all) then
    begin(call, p, p.age + 1, tag)
    answer = {'later'}
  end
  for _, t in ipairs(all) do
    if t.shard == who and t.age == p.age and t.tag == p.tag then asker = t end
  end
  bucket.open(p, call.now, p.count == shards, call.lent[p.name])
  local silent = missing(p, shards, who)
  if not answer and #silent > 0 then answer = {'join', epoch(p), silent} end
  if not answer and want > 0 then answer = lend(call, p, who, want, asker) end
  if not answer then answer = {'none', epoch(p), late(call, p, all), told_token(call, p)} end
  write(p)
  return answer
end

return M
