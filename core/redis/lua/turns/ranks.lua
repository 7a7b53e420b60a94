-- ranks - turns by what messages say, over the whole queue: scope = queue.
--
-- What a node gives first is the best of its own first message and of what the nodes below it give. The children
-- that sit are in a zset beside their ring by that, and of equals as in the ring (k:PATH); in another one by their
-- stamps (g:PATH), by which each sixteenth turn goes where the order is priority. What of a node stands there is in
-- the hash `rk`.
local M = {}
local BY_AGE = 16

local function ring(call, kind, path)
  local name = kind .. path
  if not call.rank_views[name] then call.rank_views[name] = view.open(call.tag .. name) end
  return call.rank_views[name]
end

-- Turns are counted for each node `n` that is asked for one: who takes those of one tenant uses up none of the others'.
function M.is_turn_by_age(call, n) return call.ranked and call.settings.ages and n.turns + 1 >= BY_AGE end
function M.had_turn(call, n, by_age)
  if call.ranked then n.turns = by_age and 0 or math.min(n.turns + 1, BY_AGE - 1) end
end

local function goes_before(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return text.before(a[2], b[2])
end
-- Of equal ranks: as in a ring.
local function entry_of(s, rank)
  return {rank[1], rank[2] .. struct.pack('>I8', s.tag) .. struct.pack('>I8', s.seq) .. (s.path or '')}
end
local function child_of(entry) return string.sub(entry[2], #(queues.rank_of(entry[2]) or entry[2]) + 17) end

-- Of its own first message: {score, bytes}. Where what it has ready is lost, or that one damaged, its turn comes first, and
-- that is seen.
local function rank_of_own(call, n)
  local first = view.first(queues.of(call, n.path))
  local rank = first and queues.rank_of(first[2])
  return rank and {first[1], rank} or {-math.huge, '\255'}
end

-- What it gives first; nil: nothing sits there.
local function best_of(call, n)
  local own = n.own.seated and rank_of_own(call, n) or nil
  local first = n.kids > 0 and view.first(ring(call, 'k:', n.path)) or nil
  first = first and {first[1], queues.rank_of(first[2]) or '\255'}
  if own and first then return goes_before(first, own) and first or own end
  return own or first
end

-- A node stands among its siblings as it now should. False: as it did before.
local function place(call, n)
  local parent, best = seats.parent_of(n.path), n.seated and best_of(call, n) or nil
  local entry = best and entry_of(n, best) or nil
  local before, stamped = n.rank, n.rank_stamp
  if entry and before and entry[1] == before[1] and entry[2] == before[2] and stamped == n.stamp then return false end
  if before then
    view.take(ring(call, 'k:', parent), before[2])
    view.take(ring(call, 'g:', parent), n.path)
  end
  if entry then
    view.put(ring(call, 'k:', parent), entry[1], entry[2])
    view.put(ring(call, 'g:', parent), n.stamp, n.path)
  end
  n.rank, n.rank_stamp, n.rank_changed = entry, n.stamp, true
  return true
end

local function depth_of(path) return select(2, string.gsub(path, '/', '')) end

-- What was touched takes its place, the lower ones first.
local function refresh(call)
  local by_depth, deepest = {}, -1
  for path in pairs(call.touched) do
    local depth = path == '' and -1 or depth_of(path)
    by_depth[depth] = by_depth[depth] or {}
    by_depth[depth][path] = true
    deepest = math.max(deepest, depth)
  end
  call.touched = {}
  for depth = deepest, 0, -1 do
    for path in pairs(by_depth[depth] or {}) do
      if place(call, seats.node(call, path)) and depth > 0 then
        by_depth[depth - 1] = by_depth[depth - 1] or {}
        by_depth[depth - 1][seats.parent_of(path)] = true
      end
    end
  end
end

-- The better of two seats of one ring: {seat, rank}.
local function better(call, a, b, by_age)
  if not a or not b then return a or b end
  if by_age then return b[1].stamp < a[1].stamp and b or a end
  return goes_before(entry_of(b[1], b[2]), entry_of(a[1], a[2])) and b or a
end

-- What it gives first where pools may be in the way: a node and a rank. All that sits below it is looked at.
local function best_by_pools(call, n, by_age)
  if n.pool ~= '' and pools.exists(call, n.pool) and not pools.has_room(call, n.pool) then return nil end
  local best = n.own.seated and {n.own, rank_of_own(call, n), n} or nil
  local highest = best and best[2]
  for _, member in ipairs(rings.members(call, n)) do
    local child = seats.child(call, n, member)
    local node, rank
    if child then node, rank = best_by_pools(call, child, by_age) end
    if node then
      best = better(call, best, {child, rank, node}, by_age)
      if not highest or goes_before(rank, highest) then highest = rank end
    end
  end
  if best then return best[3], highest end
end

-- Whether it stands by rank and by age as it should, and all that sit below it do.
function M.is_well(call, n)
  local function card(kind) return redis.call('ZCARD', call.tag .. kind .. n.path) end
  local sit = #rings.members(call, n)
  if card('k:') ~= sit or card('g:') ~= sit then return false end
  if n.path == '' then return true end
  local parent, best = seats.parent_of(n.path), n.seated and best_of(call, n) or nil
  local entry = best and entry_of(n, best) or nil
  local stamp = redis.call('ZSCORE', call.tag .. 'g:' .. parent, n.path)
  if not entry then return not stamp and not n.rank end
  local score = redis.call('ZSCORE', call.tag .. 'k:' .. parent, entry[2])
  return tonumber(score or nil) == entry[1] and tonumber(stamp or nil) == n.stamp
end

-- The node at `n` or below whose own first message has the turn, or nil.
function M.next(call, n)
  local by_age = M.is_turn_by_age(call, n)
  if pools.any(call) then return (best_by_pools(call, n, by_age)) end
  refresh(call)
  while true do
    local first = n.kids > 0 and view.first(ring(call, by_age and 'g:' or 'k:', n.path)) or nil
    if not first and not n.own.seated then return nil end
    local is_own = not first
    if first and n.own.seated then
      if by_age then
        is_own = n.own.stamp < first[1]
      else
        is_own = goes_before(entry_of(n.own, rank_of_own(call, n)), first)
      end
    end
    if is_own then return n end
    local path = by_age and first[2] or child_of(first)
    local child = #path > #n.path and seats.node(call, path) or nil
    if child and seats.count_of(child) > 0 then
      n = child
    else  -- it is damaged, and could lead back to where it is from, or what is known of it is lost
      view.take(ring(call, by_age and 'g:' or 'k:', n.path), first[2])
    end
  end
end

-- From now on turns go so, or do not any more. There are not too many tenants for one call.
local TENANTS = 10000
function M.may_set(call, ranked)
  return ranked == call.ranked or redis.call('ZCARD', call.tag .. 'cn') <= TENANTS
end
function M.set(call, ranked)
  if ranked == call.ranked then return end
  call.ranked = ranked
  if not ranked then
    call.unranked = redis.call('HKEYS', call.tag .. 'rk')
    return
  end
  for _, n in pairs(call.nodes) do records.add_ranks(n) end
  for _, path in ipairs(redis.call('ZRANGE', call.tag .. 'cn', 0, -1)) do
    seats.each_seat(call, seats.node(call, path), function(s, p)
      if s.stamp < 0 then seats.stamp(call, s) end
      seats.touch(call, s.own and s or p)
      if s.own then s.rank_changed = true else p.rank_changed = true end
    end)
  end
end

-- All places by rank are taken anew; who had a turn before whom is forgotten.
function M.mend(call)
  M.set(call, false)
  for _, path in ipairs(redis.call('ZRANGE', call.tag .. 'cn', 0, -1)) do
    seats.each_node(call, seats.node(call, path), function(n) n.rank, n.changed = nil, true end)
  end
  M.set(call, true)
end

-- Before anything is written, which moves what is read.
function M.prepare(call)
  if call.ranked then refresh(call) end
end

function M.write(call)
  for _, path in ipairs(call.unranked or {}) do
    local parent = seats.parent_of(path)
    redis.call('UNLINK', call.tag .. 'k:' .. parent, call.tag .. 'g:' .. parent)
  end
  if call.unranked then redis.call('UNLINK', call.tag .. 'rk') end
  if not call.ranked then return end
  for _, each in pairs(call.rank_views) do view.write(each) end
  for path, n in pairs(call.nodes) do
    if n.rank_changed or n.changed then redis.call('HSET', call.tag .. 'rk', path, records.ranks_bytes(n)) end
  end
end

return M
