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

local function is_full(call, pool) return pools.exists(call, pool) and not pools.has_room(call, pool) end

local function has_own_turn(own, first)
  return own.seated and (not first or own.tag < first[1] or (own.tag == first[1] and own.seq < seats.seq_of(first[2])))
end

-- Below `n`, which no pool is in the way of, the node that can be served.
local function next_below(call, n)
  while true do
    local first, ring = rings.first(call, n)
    if has_own_turn(n.own, first) then return n end
    if not first then return nil end
    local child = seats.child(call, n, first[2])
    local found = child and not is_full(call, child.pool) and next_below(call, child)
    if found then return found end
    view.take(ring, first[2])  -- it is damaged, or what is known of it or of those below it is lost
  end
end

-- The node at `top` or below whose own first message has the turn, or nil.
function M.next(call, top)
  local n = seats.node(call, top)
  if M.is_blocked(call, n) then return nil end
  if call.ranked then return ranks.next(call, n) end
  return next_below(call, n)
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
  local first = rings.first(call, p)
  if not s.own then return has_own_turn(p.own, first) end
  return first ~= nil and not has_own_turn(p.own, first) and string.sub(first[2], 9) == s.path
end

return M
