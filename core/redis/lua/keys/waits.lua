-- waits - who waits for a message, by when each began; and who died with it, by id.
--
-- One zset a message that others came after, of those that are held (w:ID), and one of those that are dead and
-- are looked at when it lives again (y:ID). Each of these is in that of one, at least, of which it is dead. Behind
-- them that has those that are told how a dead one ends, since steps of them have waited for it.
local M = {}
local BURIED, TOLD = 0, 1  -- scores in y:ID

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

-- Likewise of the first that looks at how it lives or ends after it was dead; `buried`: that died with it.
local function first_behind(call, id) return call.waits > 0 and view.first(view_of(call, 'y:', id)) or nil end
function M.first_told(call, id)
  local first = first_behind(call, id)
  return first and first[2] or nil
end
function M.first_buried(call, id)
  local first = first_behind(call, id)
  return first and first[1] == BURIED and first[2] or nil
end

-- It waits for that one no more, or was looked at after it lived again.
function M.let_go(call, member, id) view.take(view_of(call, 'w:', id), member) end
function M.pass_over(call, member, id) view.take(view_of(call, 'y:', id), member) end
-- It stays dead until that one lives again; it may be among those already.
function M.stay(call, member, id)
  M.pass_over(call, member, id)
  view.put(view_of(call, 'y:', id), BURIED, member)
end
-- A step of it has waited for that one, which has not been acked.
local function is_unacked(m, wait)
  return m.stepped and wait.any and not wait.for_key and wait.closed and not wait.acked
end
-- Whether there is one that has not been by now, as far as that is known.
function M.has_failed(call, m)
  for _, wait in ipairs(store.ties(call, m).waits) do
    if is_unacked(m, wait) and store.state(call, wait.id) ~= 'acked' then return true end
  end
  return false
end

local function enter(call, m, wait)
  local member = records.member_of(m)
  if m.state == records.HELD and not wait.closed then
    view.put(view_of(call, 'w:', wait.id), wait.began, member)
  elseif m.state == records.DEAD and not wait.any then
    view.put(view_of(call, 'y:', wait.id), BURIED, member)
  elseif m.state == records.HELD and is_unacked(m, wait) then
    view.put(view_of(call, 'y:', wait.id), TOLD, member)
  end
end
local function leave(call, m, wait)
  local member = records.member_of(m)
  if m.state == records.HELD and not wait.closed then
    view.take(view_of(call, 'w:', wait.id), member)
  elseif (m.state == records.DEAD and not wait.any) or (m.state == records.HELD and is_unacked(m, wait)) then
    view.take(view_of(call, 'y:', wait.id), member)
  end
end

-- It is held, or dead, from now on; or so no more.
function M.enter(call, m)
  for _, wait in ipairs(store.ties(call, m).waits) do enter(call, m, wait) end
end
function M.leave(call, m)
  for _, wait in ipairs(store.ties(call, m).waits) do leave(call, m, wait) end
end

-- A held one waits for that no more, which has ended.
function M.close(call, m, wait, acked)
  leave(call, m, wait)
  wait.closed, wait.acked = true, acked
  enter(call, m, wait)
end

function M.began(call)
  call.waits = call.waits + 1
  return call.waits
end

function M.write(call)
  for _, v in pairs(call.waiters) do view.write(v) end
end

return M
