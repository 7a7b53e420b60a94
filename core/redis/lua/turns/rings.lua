-- rings - in which rings of its parent a node stands that sits there.
--
-- Whoever waits for a pool that has no room is passed over at no cost, however many do: of a node those that sit below it are in
-- one ring for each set of pools that something there needs room in, and those that need none in the plain one. A child stands
-- in each ring whose set something of it needs, with one tag and one place. The turn is the first's of those rings whose pools
-- all have room. A pool of the node itself, or above it, is not in its sets; one that there is not has room for all.
--
-- A set is the names of its pools in order, with ',' between them; '' is the plain one. The node counts what stands in each ring:
-- n.sets, and n.kids all of it.
local M = {}
local PLAIN, NONE = {[''] = true}, {}

function M.key(call, path, set)
  return call.tag .. (set == '' and 'r:' or 'rg:' .. set .. ':') .. path
end
-- Of such a name, without what all keys begin with: the node, and the set.
function M.parse(name)
  local set, path = string.match(name, '^rg:([^:]*):(.*)$')
  return path or string.sub(name, 3), set or ''
end

function M.member_of(s) return struct.pack('>I8', s.seq) .. s.path end

local function of(call, n, set)
  local ring
  if set == '' then ring = n.ring else ring = n.pool_rings and n.pool_rings[set] end
  if ring then return ring end
  ring = view.open(M.key(call, n.path, set), view.by_number)
  call.rings[#call.rings + 1] = ring
  if set == '' then
    n.ring = ring
  else
    n.pool_rings = n.pool_rings or {}
    n.pool_rings[set] = ring
  end
  return ring
end

-- The set of those pools and of this one.
local function with(pool, set)
  if pool == '' then return set end
  local names, seen = {pool}, {[pool] = true}
  for name in string.gmatch(set, '[^,]+') do
    if not seen[name] then names[#names + 1], seen[name] = name, true end
  end
  table.sort(names, text.before)
  return table.concat(names, ',')
end

local function plain_of(n)
  local count = n.kids
  for _, each in pairs(n.sets or NONE) do count = count - each end
  return count
end

-- The sets of pools of which something of it needs room in all.
local function needs(n)
  if not n.sets and n.pool == '' then return (n.kids > 0 or n.own.seated) and PLAIN or NONE end
  local found = {}
  for set in pairs(n.sets or NONE) do found[with(n.pool, set)] = true end
  if n.own.seated or plain_of(n) > 0 then found[n.pool] = true end
  return found
end

-- Where it stands by its record.
function M.of_record(n) return n.seated and needs(n) or NONE end

local function is_within(a, b)
  for set in pairs(a) do
    if not b[set] then return false end
  end
  return true
end

local function count(n, set, more)
  n.kids, n.changed = n.kids + more, true
  if set == '' then return end
  local sets = n.sets or {}
  local left = (sets[set] or 0) + more
  sets[set] = left > 0 and left or nil
  n.sets = next(sets) and sets or nil
end

-- It stands where it should: nowhere, where it does not sit. False: as it did before.
function M.stand(call, s, p)
  local wanted, before = s.seated and needs(s) or NONE, s.stands
  if wanted == before or (is_within(wanted, before) and is_within(before, wanted)) then return false end
  local member = M.member_of(s)
  for set in pairs(before) do
    if not wanted[set] then
      view.take(of(call, p, set), member)
      count(p, set, -1)
    end
  end
  for set in pairs(wanted) do
    if not before[set] then
      view.put(of(call, p, set), s.tag, member)
      count(p, set, 1)
    end
  end
  s.stands = wanted
  return true
end

-- In its place with another tag.
function M.retag(call, s, p, tag)
  local member = M.member_of(s)
  for set in pairs(s.stands) do
    view.take(of(call, p, set), member)
    view.put(of(call, p, set), tag, member)
  end
end

local function has_room(call, set)
  for name in string.gmatch(set, '[^,]+') do
    if pools.exists(call, name) and not pools.has_room(call, name) then return false end
  end
  return true
end

-- Of those below it that a pool is not in the way of the first, and its ring; nil: there is none.
function M.first(call, n)
  if n.kids == 0 then return nil end
  if not n.sets then
    local ring = of(call, n, '')
    return view.first(ring), ring
  end
  local best, best_ring = nil, nil
  local function look_at(set)
    local ring = of(call, n, set)
    local first = view.first(ring)
    if first and (not best or view.goes_before(ring.order_of, first, best)) then best, best_ring = first, ring end
  end
  if plain_of(n) > 0 then look_at('') end
  for set in pairs(n.sets) do
    if has_room(call, set) then look_at(set) end
  end
  return best, best_ring
end

-- The sets of its rings, in order.
function M.sets(n)
  local sets = {''}
  for set in pairs(n.sets or NONE) do sets[#sets + 1] = set end
  table.sort(sets, text.before)
  return sets
end

-- Of all rings the members: each child once.
function M.members(call, n)
  local found, seen = {}, {}
  for _, set in ipairs(M.sets(n)) do
    for _, entry in ipairs(view.all(of(call, n, set))) do
      if not seen[entry[2]] then found[#found + 1], seen[entry[2]] = entry[2], true end
    end
  end
  return found
end

-- So many of what stands in its rings, one behind the other; a child may stand in several.
function M.page(call, n, from, most)
  local page = {}
  for _, set in ipairs(M.sets(n)) do
    local key = M.key(call, n.path, set)
    local card = redis.call('ZCARD', key)
    if from < card and #page < most then
      for _, member in ipairs(redis.call('ZRANGE', key, from, from + most - #page - 1)) do page[#page + 1] = {member, set} end
    end
    from = math.max(0, from - card)
  end
  return page
end

-- Whether that is the first of those in which it stands.
function M.is_first_of(s, set)
  for other in pairs(s.stands) do
    if text.before(other, set) then return false end
  end
  return true
end

-- Whether it counts what stands in its rings.
function M.are_counted(call, n)
  local all, are = 0, true
  for _, set in ipairs(M.sets(n)) do
    local card = redis.call('ZCARD', M.key(call, n.path, set))
    if set ~= '' and n.sets[set] ~= card then are = false end
    all = all + card
  end
  return are and n.kids == all
end
-- It does, also in these.
function M.count_anew(call, n, more)
  local sets = {[''] = true}
  for _, known in ipairs({n.sets or NONE, more or NONE}) do
    for set in pairs(known) do sets[set] = true end
  end
  n.kids, n.sets = 0, nil
  for set in pairs(sets) do count(n, set, redis.call('ZCARD', M.key(call, n.path, set))) end
end

-- Whether it stands where it should by its record. Where all do that are counted, nobody stands where he should not.
function M.is_well(call, s, p)
  for set in pairs(s.stands) do
    if set ~= '' and not (p.sets and p.sets[set]) then return false end
    local tag = redis.call('ZSCORE', M.key(call, p.path, set), M.member_of(s))
    if tonumber(tag or nil) ~= s.tag then return false end
  end
  return true
end
-- It sits nowhere, and stands in no ring.
function M.drop(call, s, p)
  for _, set in ipairs(M.sets(p)) do redis.call('ZREM', M.key(call, p.path, set), M.member_of(s)) end
  s.seated, s.stands = false, NONE
  M.count_anew(call, p)
end

return M
