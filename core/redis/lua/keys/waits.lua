-- waits - who waits for a message, by when each began; and who died with it, by id.
--
-- One zset a message that others came after, of those that are held (w:ID), and one of those that are dead and
-- are looked at when it lives again (y:ID). Each of these is in that of one, at least, of which it is dead.
local M = {}

local function view_of(call, kind, id)
  local key = call.tag .. kind .. text.num(id)
  if not call.waiters[key] then call.waiters[key] = view.open(key, view.by_number) end
  return call.waiters[key]
end

-- The member of the first that waits for it, or nil. Most queues have none that ever waited.
function M.first(call, id)
  local first = call.waits > 0 and view.first(view_of(call, 'w:', id))
  return first and first[2] or nil
end

-- Likewise of the first that died with it.
function M.first_buried(call, id)
  local first = view.first(view_of(call, 'y:', id))
  return first and first[2] or nil
end

-- It waits for that one no more, or was looked at after it lived again.
function M.let_go(call, member, id) view.take(view_of(call, 'w:', id), member) end
function M.pass_over(call, member, id) view.take(view_of(call, 'y:', id), member) end
-- It stays dead until that one lives again; it may be among those already.
function M.stay(call, member, id)
  M.pass_over(call, member, id)
  view.put(view_of(call, 'y:', id), 0, member)
end
function M.close(call, m, wait)
  wait.closed = true
  view.take(view_of(call, 'w:', wait.id), records.member_of(m))
end

-- It is held, or dead, from now on; or so no more.
function M.enter(call, m)
  for _, wait in ipairs(store.ties(call, m).waits) do
    if m.state == records.HELD and not wait.closed then
      view.put(view_of(call, 'w:', wait.id), wait.began, records.member_of(m))
    elseif m.state == records.DEAD and not wait.any then
      view.put(view_of(call, 'y:', wait.id), 0, records.member_of(m))
    end
  end
end
function M.leave(call, m)
  for _, wait in ipairs(store.ties(call, m).waits) do
    if m.state == records.HELD and not wait.closed then
      view.take(view_of(call, 'w:', wait.id), records.member_of(m))
    elseif m.state == records.DEAD and not wait.any then
      view.take(view_of(call, 'y:', wait.id), records.member_of(m))
    end
  end
end

function M.began(call)
  call.waits = call.waits + 1
  return call.waits
end

function M.write(call)
  for _, v in pairs(call.waiters) do view.write(v) end
end

return M
