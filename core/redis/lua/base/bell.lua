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
function M.channel(call, nonce) return call.tag .. 'bell:' .. nonce end
function M.ring(call, nonce) return ring_on(M.channel(call, nonce)) end

-- These are told that what they wait for has come about, and wait for it no more. A nonce is what they begin with.
local NONCE_BYTES = text.NONCE_BYTES
function M.tell(tag, kind, members)
  text.call('ZREM', tag .. 'b' .. kind, members)
  for _, member in ipairs(members) do ring_on(tag .. 'news:' .. string.sub(member, 1, NONCE_BYTES)) end
end
-- Those who wait for news of a message.
function M.tell_of(tag, kind, id) M.tell(tag, kind, redis.call('ZRANGEBYSCORE', tag .. 'b' .. kind, id, id)) end

return M
