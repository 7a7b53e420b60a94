-- lost - messages whose records are missing or cannot be read: whoever meets one goes on behind it.
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

-- Whose turn it is, `own` where that is said, and its first message, which is not taken yet; nil: nobody's.
local LOST_MOST = 64  -- given up in one call
function M.next_turn(call, top, own)
  repeat
    local n = own or pick.next(call, top)
    if not n or (own and (own.own.count == 0 or pick.is_blocked(call, own, true))) then return nil end
    local first = view.first(queues.of(call, n.path))
    local id = first and queues.id_of(first[2])
    local m = first and store.find(call, id)
    if m then return n, m end
    if first then give_up(call, n, id, first[2]) else give_up_all(call, n) end
  until #call.lost >= LOST_MOST
end

-- What a session holds by living, or nil: its record is lost, and the session holds it no more.
function M.held_one(call, nonce, id)
  local m = store.find(call, id)
  if not m then sessions.let_go(call, nonce, id) end
  return m
end

return M
