-- purse - of a limit that counts over all shards of a queue: the units that no shard has, and how many each may have.
--
-- It lies in one of the shards. Of each shard it keeps an upper bound of that one's share; all these together are never
-- above the limit because of it. A loan raises the bound first, then a client carries it; a shard lowers its share first,
-- then a client tells so. Whatever is lost on the way is units that nobody uses, until the shard is told of again.
--
-- What it knows is of an epoch. A new one begins where the limit is another, or where this server or one of a shard may
-- have forgotten something; in it nothing is lent before each shard has said what it uses.
local M = {}
local HEAD = '<ddd'            -- age, tag, most (-1: nobody has said it yet)
local BOUND = '<dddd'          -- of a shard: bound, loans, the last one, when that was
local TOLD = '<dddddd'         -- what is told of a shard: which, age, tag, loans, share, most
local TOLD_BYTES = 48
local ASK = '<ddddd'           -- shards, who asks, how many it wants, the age that it knows of, a tag for a new epoch
local LATE = 1000              -- after so long a loan that did not arrive is taken back

local function key_of(call, name) return call.tag .. 'pu:' .. name end

local function read(call, name)
  local p = {key = key_of(call, name), bounds = {}, count = 0, changed = {}}
  local all = redis.call('HGETALL', p.key)
  for i = 1, #all, 2 do
    if all[i] == 'head' then
      p.age, p.tag, p.most = struct.unpack(HEAD, all[i + 1])
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
  p.age, p.tag, p.most, p.run, p.bounds, p.count, p.changed, p.is_new = age, tag, -1, call.run, {}, 0, {}, true
end

local function read_told(bytes)
  local all = {}
  for at = 1, #bytes, TOLD_BYTES do
    local t = {}
    t.shard, t.age, t.tag, t.loans, t.share, t.most = struct.unpack(TOLD, bytes, at)
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
  if p.most < 0 then p.most, p.is_new = t.most, true end
  if p.most ~= t.most then return false end
  local b = p.bounds[t.shard]
  if not b then
    b = {bound = t.share, loans = t.loans, last = 0, at = 0}
    p.bounds[t.shard], p.count, p.changed[t.shard] = b, p.count + 1, true
  end
  local bound = b.bound
  if t.loans >= b.loans then bound, b.loans = math.min(bound, t.share), t.loans end
  if t.loans == b.loans - 1 then bound = math.min(bound, t.share + b.last) end
  if bound ~= b.bound then b.bound, p.changed[t.shard] = bound, true end
  return true
end

local function write(p)
  if p.is_new then
    redis.call('UNLINK', p.key)
    redis.call('HSET', p.key, 'head', struct.pack(HEAD, p.age, p.tag, p.most), 'run', p.run)
    for shard in pairs(p.bounds) do p.changed[shard] = true end
  end
  for shard in pairs(p.changed) do
    local b = p.bounds[shard]
    redis.call('HSET', p.key, text.num(shard), struct.pack(BOUND, b.bound, b.loans, b.last, b.at))
  end
end

local function epoch(p) return struct.pack('<dd', p.age, p.tag) end

-- Shards that have not said yet what they use.
local function missing(p, shards)
  local found = {}
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

-- `told`: of that shard, in this epoch.
local function lend(call, p, shard, want, told)
  local b = p.bounds[shard]
  if not told then return nil end
  -- Somebody has it on the way, or had, and it is not lost.
  if told and told.loans < b.loans then return {'loan', epoch(p), text.num(b.loans), text.num(b.last)} end
  local free = p.most
  for _, each in pairs(p.bounds) do free = free - each.bound end
  local more = math.min(want, free)
  if more <= 0 then return nil end
  b.bound, b.loans, b.last, b.at, p.changed[shard] = b.bound + more, b.loans + 1, more, call.now, true
  return {'loan', epoch(p), text.num(b.loans), text.num(more)}
end

-- name: its epoch, and of each shard which, its bound, and how many loans it has had.
function M.look(call, args)
  local p, found = read(call, args[2]), {}
  if not p.age then return {'', found} end
  for shard, b in pairs(p.bounds) do
    for _, each in ipairs({shard, b.bound, b.loans}) do found[#found + 1] = text.num(each) end
  end
  return {epoch(p), found}
end

-- name, what is asked, what is told of shards. Answers 'join' and an epoch, and of which shards what they use has to be told
-- in it; 'loan', its epoch, its number, and how many; 'none', its epoch, and of which shards a loan is late, with its
-- number; or 'later': the limit is about to be another.
function M.ask(call, args)
  local shards, who, want, age, tag = struct.unpack(ASK, args[5])
  local p, all, asker = read(call, args[4]), read_told(args[6]), nil
  if p.run ~= call.run then begin(call, p, math.max(p.age or 0, age, call.now) + 1, tag) end
  for _, t in ipairs(all) do
    if is_beyond(p, t) then begin(call, p, t.age + 1, tag) end
  end
  local answer = nil
  for _, t in ipairs(all) do
    if t.shard == who and t.age == p.age and t.tag == p.tag then asker = t end
    if not answer and not note(p, t) then
      begin(call, p, p.age + 1, tag)
      answer = {'later'}
    end
  end
  if not answer and p.count < shards then answer = {'join', epoch(p), missing(p, shards)} end
  if not answer and want > 0 then answer = lend(call, p, who, want, asker) end
  if not answer then answer = {'none', epoch(p), late(call, p, all)} end
  write(p)
  return answer
end

return M
