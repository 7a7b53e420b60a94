-- lost - messages whose records are missing, cannot be read, or say of themselves that they stand elsewhere: whoever meets
-- one goes on behind it.
local M = {}

-- Its record is lost, so nobody can be given it: the others of its tenant have their turns. Where else it stands, and what is
-- counted of it, is for a repair, which names it.
local function give_up(call, n, id, member)
  view.take(queues.of(call, n.path), member)
  if call.ranked then call.touched[n.path] = true end
  sums.count(call, n.path, 'ready', -1)
  tree.unready(call, n, call.now)
  call.lost = call.lost or {}
  call.lost[#call.lost + 1] = text.num(id)
end

-- What says which of its messages are ready is lost, as whole: they are in no place until a repair puts them back.
local function give_up_all(call, n)
  n.own.count = 1
  tree.unready(call, n, call.now)
  call.lost = call.lost or {}
  call.lost[#call.lost + 1] = {n.path}
end

-- The one that a place of those ready names, or nil.
local function ready_one(call, n, member)
  local m = store.find(call, queues.id_of(member))
  if not m or m.state ~= records.READY or m.path ~= n.path then return nil end
  local _, stands = queues.place_of(m)
  return stands == member and m or nil
end

-- Whose turn it is, `own` where that is said, and its first message, which is not taken yet; nil: nobody's.
local LOST_MOST = 64  -- given up in one call
function M.next_turn(call, top, own)
  repeat
    local n = own or pick.next(call, top)
    if not n or (own and (own.own.count == 0 or pick.is_blocked(call, own, true))) then return nil end
    local first = view.first(queues.of(call, n.path))
    local m = first and ready_one(call, n, first[2])
    if m then return n, m end
    if first then give_up(call, n, queues.id_of(first[2]), first[2]) else give_up_all(call, n) end
  until #call.lost >= LOST_MOST
end

-- What a session holds by living, or nil: by its record it does not, and the session holds it no more.
function M.held_one(call, nonce, id)
  local m = store.find(call, id)
  if m and m.living and m.nonce == nonce then return m end
  sessions.let_go(call, nonce, id, m and m.living)
  return nil
end

-- The one whose time has come, or nil: by its record that is at another time, or never.
function M.timed_one(call, due, member)
  local m = store.find(call, queues.id_of(member))
  if m and m.timer == due then return m end
  view.take(places.timers(call), member)
  if m and m.timer ~= 0 then view.put(places.timers(call), m.timer, member) end
  return nil
end

-- Likewise of one that is dead.
function M.dead_one(call, member)
  local m = store.find(call, queues.id_of(member))
  if m and m.state == records.DEAD then return m end
  view.take(places.graves(call), member)
  return nil
end

return M
