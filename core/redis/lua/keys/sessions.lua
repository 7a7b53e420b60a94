-- sessions - clients that hold messages by living, watch leases, or are attached as workers.
--
-- A session is one of those for as long as it is heard of: each call of its process says so, and there is one at
-- the latest each few seconds. Then all that it holds comes back at once.
local M = {}
local ALIVE = 15000
local RENEWED = 4000  -- after so long a call is worth a write; before 5 s are over, so that each sign of life counts
local NONCE_BYTES = text.NONCE_BYTES
local NEWS = '<dddB'
local TIMED = '<dd'
local ANSWERED = 60000  -- so long a call is asked again, about; each client that leases for a time has a key so long
local NEWS_MOST = 1024  -- told by one call; who is told so many asks again
-- pid, slots, 1: stopped, 2: its process is dead, messages of a job, since; behind it the host.
local ATTENDANCE, HOST_AT = '<I4I2I2I4d', 21
local DEAD = 2
local SLOTS_MOST = 65535
M.ENDED, M.CANCELLED, M.EXTENDED = 0, 1, 2

function M.deadlines(call)
  call.deadlines = call.deadlines or view.open(call.tag .. 's')
  return call.deadlines
end
local function held_by(call, nonce)
  if not call.held[nonce] then call.held[nonce] = view.open(call.tag .. 'l:' .. nonce, view.by_number) end
  return call.held[nonce]
end

-- When one ends of which nobody has heard by its deadline: not before a server that was started anew (`grace`) or stood still
-- (`spared`) could hear of it.
function M.end_of(deadline, grace, spared) return math.max(deadline, grace, spared) end

-- When nobody has heard of it any more; nil: it is none.
local function deadline(call, nonce)
  if call.alive[nonce] == nil then
    call.alive[nonce] = tonumber(redis.call('ZSCORE', call.tag .. 's', nonce) or nil) or false
  end
  return call.alive[nonce] or nil
end
function M.is_alive(call, nonce) return deadline(call, nonce) ~= nil end
local function set_deadline(call, nonce, at)
  if deadline(call, nonce) then view.take(M.deadlines(call), nonce) end
  call.alive[nonce] = at or false
  if at then view.put(M.deadlines(call), at, nonce) end
end

-- Those of a process that calls: the first is the caller's own. A mark behind the last: it has waited for what is due.
function M.hear(call, nonces)
  call.session, call.hurries = string.sub(nonces, 1, NONCE_BYTES), #nonces % NONCE_BYTES > 0
  for at = 1, #nonces - NONCE_BYTES + 1, NONCE_BYTES do
    local nonce = string.sub(nonces, at, at + NONCE_BYTES - 1)
    local until_ = deadline(call, nonce)
    if until_ and until_ - call.now < ALIVE - RENEWED then set_deadline(call, nonce, call.now + ALIVE) end
  end
end

-- Of one that attends; false also where it cannot be read.
local function attends_of(tag, nonce)
  local bytes = redis.call('HGET', tag .. 'at', nonce)
  return bytes and #bytes >= HOST_AT - 1 and bytes
end
local function attendance(call, pid, slots, messages, since)
  return struct.pack(ATTENDANCE, pid, math.min(slots, SLOTS_MOST), 0, messages, since or call.now)
end

-- From now on it is one.
function M.open(call, pid)
  if deadline(call, call.session) then return end
  set_deadline(call, call.session, call.now + ALIVE)
  call.attends[call.session] = attendance(call, pid, 0, 1)
end

-- Likewise, and a worker on that host, which goes on. One that was so already is it since then.
function M.attend(call, pid, slots, messages, host)
  local before = attends_of(call.tag, call.session)
  local was = before and {struct.unpack(ATTENDANCE, before)} or {}
  local is_known = was[1] == pid and was[2] == math.min(slots, SLOTS_MOST) and was[4] == messages
  if is_known and was[3] == 0 then return end
  M.open(call, pid)
  call.attends[call.session] = attendance(call, pid, slots, messages, is_known and was[5]) .. host
end

-- A worker is stopped: it says nothing itself, and another process of its session says so.
function M.stop(call)
  local attends = attends_of(call.tag, call.session)
  if not attends then return end
  local pid, slots, stopped, messages, since = struct.unpack(ATTENDANCE, attends)
  if slots == 0 or stopped == 1 then return end
  call.attends[call.session] = struct.pack(ATTENDANCE, pid, slots, 1, messages, since) .. string.sub(attends, HOST_AT)
end

-- Its process is dead, and it stays for what others have of it: who these are is not known here.
function M.retire(call)
  local attends = attends_of(call.tag, call.session)
  if not attends or select(3, struct.unpack(ATTENDANCE, attends)) == DEAD then return end
  call.attends[call.session] = struct.pack(ATTENDANCE, 0, 0, DEAD, 1, call.now) .. string.sub(attends, HOST_AT)
end

-- All that is held by living, by id: it has no time by which others find it.
local function living(call)
  call.living = call.living or view.open(call.tag .. 'lv', view.by_number)
  return call.living
end

function M.hold(call, m)
  view.put(held_by(call, m.nonce), 0, records.member_of(m))
  view.put(living(call), 0, records.member_of(m))
end
-- By its record this session does not hold it; `by_another`: another does.
function M.let_go(call, nonce, id, by_another)
  local member = struct.pack('>I8', id)
  view.take(held_by(call, nonce), member)
  if not by_another then view.take(living(call), member) end
end
function M.drop(call, m)
  view.take(held_by(call, m.nonce), records.member_of(m))
  view.take(living(call), records.member_of(m))
end

-- A lease for a time needs no session. Those that a call gave are remembered, for who asks again since the answer was lost.
function M.lend(call, m) call.timed[#call.timed + 1] = struct.pack(TIMED, m.id, m.serial) end
-- By the last call that gave it some: id and serial in turn.
function M.given_for_a_time(call)
  local bytes, given = redis.call('GET', call.tag .. 'ti:' .. call.session) or '', {}
  for at = 1, #bytes, 16 do given[#given + 1], given[#given + 2] = struct.unpack(TIMED, bytes, at) end
  return given
end

-- What others made of a lease that it watches.
function M.tell(call, m, what, until_)
  if not m.watched or not deadline(call, m.nonce) then return end
  call.news[#call.news + 1] = {m.nonce, struct.pack(NEWS, m.id, m.serial, until_ or 0, what)}
end
-- They stay until the next call says which was the last that it heard of: this answer may be lost.
function M.news(call, heard)
  call.news_key, call.news_heard = call.tag .. 'sw:' .. call.session, 0
  -- What it has heard of is what one call told: behind that there may be as much again.
  local found = redis.call('LRANGE', call.news_key, 0, 2 * NEWS_MOST - 1)
  for i, each in ipairs(found) do
    if each == heard then
      call.news_heard = i
      break
    end
  end
  return {unpack(found, call.news_heard + 1, math.min(#found, call.news_heard + NEWS_MOST))}
end

-- The ids that it holds, at most so many where `most` is said. What is no id is held by nobody.
function M.held(call, nonce, most)
  local ids, held = {}, held_by(call, nonce)
  for entry in view.each(held) do
    if #ids == most then break end
    local id = view.by_number(entry[2])
    if struct.pack('>I8', id) == entry[2] then ids[#ids + 1] = id else view.take(held, entry[2]) end
  end
  return ids
end
function M.close(call, nonce)
  set_deadline(call, nonce, nil)
  call.attends[nonce] = nil
  call.closed[nonce] = true
end

-- The process of one that lives, 0 where that is not known, and its host; nil: there is none. Of who makes no call: one before it has told what
-- the server may not have heard.
function M.anybody(root)
  local tag = string.sub(root, 1, -2)
  local last, from = redis.call('ZRANGE', tag .. 's', 0, 0, 'REV', 'WITHSCORES'), redis.call('HMGET', root, 'grace', 'spared')
  local function time(bytes) return tonumber(bytes or 0) or 0 end
  if not last[1] or M.end_of(time(last[2]), time(from[1]), time(from[2])) <= pace.now(root) then return nil end
  local attends = attends_of(tag, last[1])
  if not attends then return 0, '' end
  return struct.unpack('<I4', attends), string.sub(attends, HOST_AT)
end

local function holder_of(call, m)
  return m and m.living and m.state == records.LEASED and attends_of(call.tag, m.nonce)
end
-- The host of who holds a message by living; '': it is not known, or nobody does.
function M.host_of(call, m)
  local attends = holder_of(call, m)
  return attends and string.sub(attends, HOST_AT) or ''
end
-- Its worker is dead, and it is held by what a job has left: by which process, is not known here.
function M.is_left_behind(call, m)
  local attends = holder_of(call, m)
  return attends and select(3, struct.unpack(ATTENDANCE, attends)) == DEAD or false
end

-- All that there are: nonce, how it attends, what it holds.
function M.all(call)
  local found = {}
  for _, entry in ipairs(view.all(M.deadlines(call))) do
    local ids = {}
    for i, id in ipairs(M.held(call, entry[2])) do ids[i] = text.num(id) end
    found[#found + 1] = {entry[2], attends_of(call.tag, entry[2]), ids}
  end
  return found
end

function M.write(call)
  if call.deadlines then view.write(call.deadlines) end
  for _, v in pairs(call.held) do view.write(v) end
  if call.living then view.write(call.living) end
  if #call.timed > 0 then
    redis.call('SET', call.tag .. 'ti:' .. call.session, table.concat(call.timed), 'PX', ANSWERED)
  end
  for nonce, bytes in pairs(call.attends) do redis.call('HSET', call.tag .. 'at', nonce, bytes) end
  for nonce in pairs(call.closed) do
    redis.call('HDEL', call.tag .. 'at', nonce)
    redis.call('UNLINK', call.tag .. 'sw:' .. nonce)
  end
  if (call.news_heard or 0) > 0 then redis.call('LTRIM', call.news_key, call.news_heard, -1) end
  for _, each in ipairs(call.news) do
    if not call.closed[each[1]] then
      redis.call('RPUSH', call.tag .. 'sw:' .. each[1], each[2])
      bell.ring(call, each[1])
    end
  end
end

return M
