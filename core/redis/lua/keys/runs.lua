-- runs - what jobs write while they run, for those who follow: by message and delivery.
--
--   ro:ID:DELIVERY  a hash: `call`, for whom it is ('0': nobody); `waits`: that one is to read all of it; `nonce`: the
--                   session that writes it; `over` (1: its end was told, 2: who wrote it is gone); of each channel ('o',
--                   'e') what was written (w), what did not fit behind that (l), what its caller has read (r), and the
--                   first block behind the head that is there (b); `heard`: whether somebody waits for more
--   rb:ID:DELIVERY:CHANNEL:BLOCK  its bytes, in blocks of one size
--   rs:ID           the runs that may be begun to be read, by delivery
--   sr:NONCE        the runs of a session
--   ca, cs:NONCE    the calls, with the session of each; those of a session
--   cr:CALL         the runs that stay for a call
-- The head of a run stays, and the newest behind it; what its caller has not read stays, too, up to an end.
local M = {}
local BLOCK = 65536
local HEAD_BLOCKS = 4        -- 256 KiB
local TAIL = 524288
local UNREAD_MOST = 8388608  -- what is written beyond it is lost
local PIECE_BLOCKS = 4       -- of one reply
local READ_ON = 60000        -- ms in which those who read it already may go on when it is over
local CHANNELS = {'o', 'e'}
local LEFT = 2               -- `over`: nobody writes it any more

local function key_of(tag, name) return tag .. 'ro:' .. name end
local function block_of(tag, name, channel, block) return tag .. 'rb:' .. name .. ':' .. channel .. ':' .. text.num(block) end
function M.name_of(id, delivery) return id .. ':' .. delivery end
local function id_of(name) return string.match(name, '^(%d+):(%d+)$') end

local function fields_of(tag, name, ...)
  local found = redis.call('HMGET', key_of(tag, name), ...)
  for i, value in ipairs(found) do found[i] = value or '0' end
  return found
end
local function calls(tag, number) return number ~= '0' and redis.call('HEXISTS', tag .. 'ca', number) == 1 end

-- A call of this session. False: there is one of that number.
function M.begin_call(call, number, pid)
  if redis.call('HSETNX', call.tag .. 'ca', number, call.session) == 0 then return false end
  sessions.open(call, pid)
  redis.call('SADD', call.tag .. 'cs:' .. call.session, number)
  return true
end

-- It may be begun to be read no more, and goes when those who read it have had the time to. What came later would stay.
local function remove(call, name)
  local tag = call.tag
  local of = fields_of(tag, name, 'call', 'nonce', 'ow', 'ob', 'ew', 'eb', 'over')
  local id, delivery = id_of(name)
  if of[2] ~= '0' and of[7] == '0' then redis.call('HSET', key_of(tag, name), 'over', LEFT) end
  redis.call('ZREM', tag .. 'rs:' .. id, delivery)
  redis.call('SREM', tag .. 'sr:' .. of[2], name)
  redis.call('SREM', tag .. 'cr:' .. of[1], name)
  redis.call('PEXPIRE', key_of(tag, name), READ_ON)
  for i, channel in ipairs(CHANNELS) do
    local last = math.floor(tonumber(of[2 * i + 1]) / BLOCK)
    for block = 0, math.min(HEAD_BLOCKS - 1, last) do redis.call('PEXPIRE', block_of(tag, name, channel, block), READ_ON) end
    for block = math.max(HEAD_BLOCKS, tonumber(of[2 * i + 2])), last do
      redis.call('PEXPIRE', block_of(tag, name, channel, block), READ_ON)
    end
  end
end
M.drop = remove

-- Who waits for more of it is told.
local function note(call, name)
  if call.awaited then bell.note(call, 'o', (id_of(name))) end
end
function M.listen(tag, name)
  if redis.call('EXISTS', key_of(tag, name)) == 1 then redis.call('HSET', key_of(tag, name), 'heard', 1) end
end

-- Nobody writes it any more. It stays for a caller that lives.
function M.leave(call, name, over)
  local tag = call.tag
  note(call, name)
  if redis.call('EXISTS', key_of(tag, name)) == 0 then return end
  local of = fields_of(tag, name, 'call', 'nonce', 'over')
  if of[3] == '0' then redis.call('HSET', key_of(tag, name), 'over', over) end
  redis.call('SREM', tag .. 'sr:' .. of[2], name)
  if not calls(tag, of[1]) then remove(call, name) end
end

function M.close(call, name)
  note(call, name)
  if redis.call('EXISTS', key_of(call.tag, name)) == 1 then redis.call('HSET', key_of(call.tag, name), 'over', 1) end
end

function M.end_call(call, number)
  local tag = call.tag
  local nonce = redis.call('HGET', tag .. 'ca', number)
  if not nonce then return end
  redis.call('HDEL', tag .. 'ca', number)
  redis.call('SREM', tag .. 'cs:' .. nonce, number)
  for _, name in ipairs(redis.call('SMEMBERS', tag .. 'cr:' .. number)) do
    if fields_of(tag, name, 'over')[1] ~= '0' then remove(call, name) end
  end
  redis.call('UNLINK', tag .. 'cr:' .. number)
end

-- What it called for stays no longer, and what it wrote is over.
local function end_session(call, nonce)
  for _, number in ipairs(redis.call('SMEMBERS', call.tag .. 'cs:' .. nonce)) do M.end_call(call, number) end
  for _, name in ipairs(redis.call('SMEMBERS', call.tag .. 'sr:' .. nonce)) do M.leave(call, name, LEFT) end
end

-- The session has these, and no others.
function M.agree(call, its_runs, its_calls)
  local function each_other(key, names, over)
    local is_its = {}
    for name in string.gmatch(names, '%S+') do is_its[name] = true end
    for _, name in ipairs(redis.call('SMEMBERS', key)) do
      if not is_its[name] then over(call, name, LEFT) end
    end
  end
  each_other(call.tag .. 'cs:' .. call.session, its_calls, M.end_call)
  each_other(call.tag .. 'sr:' .. call.session, its_runs, M.leave)
end

-- waits, pid. It may be read from now on.
function M.open(call, id, delivery, number, waits, pid)
  local tag, name = call.tag, M.name_of(id, delivery)
  note(call, name)
  sessions.open(call, pid)
  redis.call('HSET', key_of(tag, name), 'call', number, 'waits', waits, 'nonce', call.session, 'over', 0, 'ob', HEAD_BLOCKS,
    'eb', HEAD_BLOCKS)
  redis.call('ZADD', tag .. 'rs:' .. id, delivery, delivery)
  redis.call('SADD', tag .. 'sr:' .. call.session, name)
  if calls(tag, number) then redis.call('SADD', tag .. 'cr:' .. number, name) end
end

-- What has no room is counted as lost.
function M.lose(call, name, channel, bytes)
  if bytes == 0 or redis.call('EXISTS', key_of(call.tag, name)) == 0 then return end
  redis.call('HINCRBY', key_of(call.tag, name), channel .. 'l', bytes)
end

-- Whether its caller is waited for, and what that has not read of a channel.
function M.state(tag, name, channel)
  local of = fields_of(tag, name, 'call', 'waits', channel .. 'w', channel .. 'r')
  return {of[2] == '1' and calls(tag, of[1]) and 1 or 0, text.num(tonumber(of[3]) - tonumber(of[4]))}
end

local function append(tag, name, channel, written, bytes)
  local at = 1
  while at <= #bytes do
    local room = BLOCK - written % BLOCK
    local piece = string.sub(bytes, at, at + room - 1)
    redis.call('APPEND', block_of(tag, name, channel, math.floor(written / BLOCK)), piece)
    written, at = written + #piece, at + #piece
  end
  return written
end

-- Behind what there is, of a run that is not over. Reply: as of state.
function M.add(tag, name, channel, bytes)
  local of = fields_of(tag, name, 'call', 'waits', channel .. 'w', channel .. 'r', channel .. 'l', channel .. 'b', 'nonce', 'heard', 'over')
  if of[7] == '0' or of[9] ~= '0' then return {0, '0'} end
  if of[8] ~= '0' then
    redis.call('HSET', key_of(tag, name), 'heard', 0)
    bell.tell_of(tag, 'o', (id_of(name)))
  end
  local waits = of[2] == '1' and calls(tag, of[1])
  local written, read, lost, first = tonumber(of[3]), tonumber(of[4]), tonumber(of[5]), tonumber(of[6])
  if lost > 0 or (waits and written - read + #bytes > UNREAD_MOST) then
    redis.call('HSET', key_of(tag, name), channel .. 'l', text.num(lost + #bytes))
    return {waits and 1 or 0, text.num(written - read)}
  end
  written = append(tag, name, channel, written, bytes)
  local needed = written - TAIL
  if waits then needed = math.min(needed, read) end
  local keeps = math.max(first, math.floor(needed / BLOCK))
  for block = first, keeps - 1 do redis.call('UNLINK', block_of(tag, name, channel, block)) end
  redis.call('HSET', key_of(tag, name), channel .. 'w', text.num(written), channel .. 'b', text.num(keeps))
  return {waits and 1 or 0, text.num(written - read)}
end

-- The first run of a message behind a delivery: that (-1: none), and what was written of each channel.
function M.next(tag, id, behind)
  local delivery = redis.call('ZRANGEBYSCORE', tag .. 'rs:' .. id, '(' .. behind, '+inf', 'LIMIT', 0, 1)[1]
  if not delivery then return {'-1', '0', '0'} end
  local of = fields_of(tag, M.name_of(id, delivery), 'ow', 'ew')
  return {delivery, of[1], of[2]}
end

-- A piece of a channel from a place to an end, at the most: how many bytes are missing before it, and it.
local function piece_of(tag, name, channel, at, written, first)
  if at >= written then return 0, '' end
  local block = math.floor(at / BLOCK)
  if block >= HEAD_BLOCKS and block < first then return math.min(first * BLOCK, written) - at, '' end
  local parts = {}
  for each = block, math.min(block + PIECE_BLOCKS - 1, math.floor((written - 1) / BLOCK)) do
    if each >= HEAD_BLOCKS and each < first then break end
    local from, to = math.max(at, each * BLOCK), math.min(written, (each + 1) * BLOCK)
    parts[#parts + 1] = redis.call('GETRANGE', block_of(tag, name, channel, each), from - each * BLOCK, to - each * BLOCK - 1)
  end
  return 0, table.concat(parts)
end

-- Of a run the first thing that is there behind these places: whether there is such a run, whether it is over, for
-- whom it is; the channel (-1: nothing), bytes that are missing, and those that are there; what was lost of each.
function M.read(tag, name, places, last)
  local of = fields_of(tag, name, 'nonce', 'over', 'call', 'ow', 'ob', 'ew', 'eb', 'ol', 'el')
  if of[1] == '0' then return {0, 0, '0', -1, '0', '', '0', '0'} end
  for i, channel in ipairs(CHANNELS) do
    local written = math.min(tonumber(of[2 * i + 2]), last[i])
    local missing, bytes = piece_of(tag, name, channel, places[i], written, tonumber(of[2 * i + 3]))
    if missing > 0 or bytes ~= '' then
      return {1, tonumber(of[2]), of[3], i - 1, text.num(missing), bytes, of[8], of[9]}
    end
  end
  return {1, tonumber(of[2]), of[3], -1, '0', '', of[8], of[9]}
end

-- Its caller has read all before these places.
function M.note_read(call, name, places)
  if redis.call('EXISTS', key_of(call.tag, name)) == 0 then return end
  redis.call('HSET', key_of(call.tag, name), 'or', places[1], 'er', places[2])
end

function M.write(call)
  for nonce in pairs(call.closed) do end_session(call, nonce) end
end

return M
