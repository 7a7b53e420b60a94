-- pick - whose turn it is.
local M = {}

-- It or a node above it starts nothing now, or a pool that holds for it has no room. `of_own`: its own messages.
function M.is_blocked(call, n, of_own)
  if of_own and n.own.blocked then return true end
  if (call.lent[lent.QUEUE] and not lent.has_room(call, lent.QUEUE, seats.node(call, '').run)) or
      (call.lent[lent.QUEUE_RATE] and not lent.has_room(call, lent.QUEUE_RATE, 0)) then
    return true
  end
  local each = n
  while each do
    if each.blocked then return true end
    each = each.above or seats.above(call, each)
  end
  for _, name in ipairs(seats.pools_of(call, n)) do
    if not pools.has_room(call, name) then return true end
  end
  return false
end

local function has_own_turn(own, first)
  return own.seated and (not first or own.tag < first[1] or (own.tag == first[1] and own.seq < seats.seq_of(first[2])))
end

-- Below `n` the node that can be served, where pools may be in the way of some.
local function next_by_pools(call, n)
  if n.pool ~= '' and pools.exists(call, n.pool) and not pools.has_room(call, n.pool) then return nil end
  local own_done = not n.own.seated
  for entry in view.each(seats.ring_of(call, n)) do
    if not own_done and has_own_turn(n.own, entry) then return n end
    local child = seats.child(call, n, entry[2])
    local found = child and next_by_pools(call, child)
    if found then return found end
  end
  return not own_done and n or nil
end

-- The node at `top` or below whose own first message has the turn, or nil.
function M.next(call, top)
  local n = seats.node(call, top)
  if M.is_blocked(call, n) then return nil end
  if call.ranked then return ranks.next(call, n) end
  if pools.any(call) then return next_by_pools(call, n) end
  while true do
    local first = n.kids > 0 and view.first(seats.ring_of(call, n)) or nil
    if has_own_turn(n.own, first) then return n end
    if not first then return nil end
    local child = seats.child(call, n, first[2])
    if child and seats.count_of(child) > 0 then
      n = child
    else  -- its entry is damaged, or what is known of it is lost
      view.take(seats.ring_of(call, n), first[2])
    end
  end
end

-- Whether there is one. Where no pool may be in the way, all that sits can be served.
function M.any(call, top)
  local n = seats.node(call, top)
  if M.is_blocked(call, n) then return false end
  if pools.any(call) then return M.next(call, top) ~= nil end
  return seats.count_of(n) > 0
end

-- Whether this seat has the turn among those below `p`.
function M.is_first(call, s, p)
  local first = p.kids > 0 and view.first(seats.ring_of(call, p)) or nil
  if pools.any(call) then
    first = nil
    for entry in view.each(seats.ring_of(call, p)) do
      local child = seats.child(call, p, entry[2])
      first = child and next_by_pools(call, child) and entry or nil
      if first then break end
    end
  end
  if not s.own then return has_own_turn(p.own, first) end
  return first ~= nil and not has_own_turn(p.own, first) and string.sub(first[2], 9) == s.path
end

return M
