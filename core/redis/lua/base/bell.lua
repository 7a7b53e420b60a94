-- bell - one that is rung, and what there is to ring for.
local M = {}

-- Something can be taken that could not. Where nobody waits call.opened is false, and that is of no interest. `path`: of
-- which tenant, or of some at or below it.
function M.open(call, path, is_some_below)
  if not call.opened then return end
  call.opened = call.opened + 1
  call.opened_paths[path] = is_some_below or call.opened_paths[path] or false
end

-- Something has come about that somebody may wait for, see awaited.lua. Where nobody does call.awaited is nil, and this is
-- not called.
function M.note(call, kind, what)
  local list = call.awaited[kind]
  if list then list[#list + 1] = what end
end
-- Something of this message that may be its end.
function M.note_of(call, id)
  M.note(call, 'e', id)
  M.note(call, 'o', id)
end

-- Whether that session heard it. Who may not ring is no reason to fail.
local function ring_on(channel)
  local heard = redis.pcall('SPUBLISH', channel, '')
  return type(heard) == 'number' and heard > 0
end
M.BELLS, M.NEWS = 'bell:', 'news:'
function M.ring(call, nonce) return ring_on(call.tag .. M.BELLS .. nonce) end

-- These are told that what they wait for has come about, and wait for it no more. A nonce is what they begin with.
local NONCE_BYTES = text.NONCE_BYTES
function M.tell(tag, kind, members)
  text.call('ZREM', tag .. 'b' .. kind, members)
  for _, member in ipairs(members) do ring_on(tag .. M.NEWS .. string.sub(member, 1, NONCE_BYTES)) end
end
-- Those who wait for news of a message.
function M.tell_of(tag, kind, id) M.tell(tag, kind, redis.call('ZRANGEBYSCORE', tag .. 'b' .. kind, id, id)) end

-- A few of those that stand there, another part each time, and of these who hears nothing: they were killed. Where nobody may
-- ask who does, nobody is deaf.
local SWEPT = 16         -- so many calls look at so many
function M.is_sweeping(call) return call.ops % SWEPT == 0 end
function M.deaf(call, key, channels)
  local count = redis.call('ZCARD', key)
  if count == 0 then return {} end
  local from, asked, deaf = call.ops % count, {}, {}
  local page = redis.call('ZRANGE', key, from, from + SWEPT - 1)
  for i, member in ipairs(page) do asked[i] = call.tag .. channels .. string.sub(member, 1, NONCE_BYTES) end
  local heard = redis.pcall('PUBSUB', 'SHARDNUMSUB', unpack(asked))
  for i, member in ipairs(heard.err and {} or page) do
    if heard[2 * i] == 0 then deaf[#deaf + 1] = member end
  end
  return deaf
end

return M
