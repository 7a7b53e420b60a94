-- seats - who sits where: the nodes of the tree, and the rings that they sit in.
--
-- A node of the tree has a seat in the ring of its parent, and its own messages have one in its own, beside
-- those of its children. Who has something sits. A ring is a zset of the children that sit: their tags, and of
-- equal tags who took its place first; see rings.lua, which of them has whom. The seat of a node's own messages is in the
-- node's record, so a tenant without children needs no ring.
local M = {}
local FORGIVEN_PER_MS = 252000000

-- Of an entry of a ring.
M.seq_of = view.by_number

local function parent_of(path) return string.match(path, '^(.*)/[^/]*$') or '' end

function M.node(call, path)
  local n = call.nodes[path]
  if not n then
    n = records.node(path, redis.call('GET', call.tag .. 'n:' .. path))
    n.stands = rings.of_record(n)
    if call.ranked then records.add_ranks(n, redis.call('HGET', call.tag .. 'rk', path)) end
    call.nodes[path] = n
  end
  return n
end

-- The node above it, nil above the root.
local function above(call, n)
  local p = n.above
  if not p and n.path ~= '' then
    p = M.node(call, parent_of(n.path))
    n.above = p
  end
  return p
end

-- The node of an entry of the ring below it; nil: the entry is damaged, and could lead back to where it is from.
local function child(call, n, member)
  local path = string.sub(member, 9)
  return #path > #n.path and M.node(call, path) or nil
end

-- The tenants with ready messages of their own, and the nodes of which something runs, by path.
local function index(call, name)
  if not call.indexes[name] then call.indexes[name] = view.open(call.tag .. name) end
  return call.indexes[name]
end
local function list(call, name, path, is_in)
  if is_in then view.put(index(call, name), 0, path) else view.take(index(call, name), path) end
end

local function count_of(s)
  local own = s.own
  if not own then return s.count end
  return own.seated and s.kids + 1 or s.kids
end

-- Where turns go by ranks, its place among its siblings is to be looked at again.
local function touch(call, n)
  if call.ranked then call.touched[n.path] = true end
end

-- A turn by age is the one of those that had theirs the longest ago.
local function stamp(call, s)
  if not call.ranked then return end
  s.stamp, call.stamps = call.stamps, call.stamps + 1
end

-- It has something to serve again, and had nothing.
local function begin(call, s)
  s.turns = 0
  stamp(call, s)
end

local function take_seat(call, s, p)
  s.seated = true
  if call.ranked then
    touch(call, s.own and s or p)
    if s.stamp < 0 then stamp(call, s) end
  end
  s.seq = p.joins
  p.joins = p.joins + 1
  if s.own then
    rings.stand(call, s, p)
    if p.path == '' then call.weight = call.weight + s.weight end
  end
end

local function leave_seat(call, s, p)
  s.seated = false
  if call.ranked then touch(call, s.own and s or p) end
  if s.own then
    rings.stand(call, s, p)
    if p.path == '' then call.weight = call.weight - s.weight end
  end
end

-- One start behind the clock, or one that is usual. What it has used before it owes, less what time forgives. The product of a long time
-- is split: above 2^53 it would be rounded.
local function newcomer_tag(s, p, cost, at)
  local owed = s.tag
  if s.run == 0 then
    local idle = math.max(0, at - s.idle)
    local whole = math.floor(idle / s.weight)
    local rest = idle - whole * s.weight
    owed = owed - whole * FORGIVEN_PER_MS - math.floor(rest * FORGIVEN_PER_MS / s.weight)
  end
  return math.max(p.vtime + math.floor(cost / s.weight), owed)
end

-- Its tag has been made level, or so far ahead of that: of what is only expected of runs under way no more than that can be taken
-- back.
local function let_stand(s, ahead)
  if s.expected > 0 and costs.turn_of_ticks(s, s.expected) > ahead then s.expected = costs.ticks_within(s, ahead) end
end

-- Once what a node needs may be another set of pools: it and those above it stand where they should.
local function stand(call, n)
  local p = above(call, n)
  while p and rings.stand(call, n, p) do n, p = p, above(call, p) end
end

-- When that one owes nothing that it could be asked for.
function M.settled_at(s, p)
  local at = s.idle + math.ceil(math.max(0, s.tag - p.vtime) / FORGIVEN_PER_MS * s.weight)
  while newcomer_tag(s, p, 0, at) > p.vtime do at = at + 1 end
  return at
end

-- Sits or leaves as it has something or not, and so on upwards while that changes something. `cost`: of the
-- first message that came, and when that was; nil: none did. `group`: it is one that has gathered.
local function settle(call, s, p, cost, at, group)
  while true do
    local count = count_of(s)
    local wanted = count > 0 and not s.blocked
    if cost and not s.seated and (count == 1 or (group and not s.own)) then
      s.tag = newcomer_tag(s, p, cost, at)
      let_stand(s, s.tag - p.vtime - math.floor(cost / s.weight))
      begin(call, s)
    end
    s.changed, p.changed = true, true
    if (s.seated or false) == wanted then return stand(call, s.own and s or p) end
    if s.seated then
      leave_seat(call, s, p)
    else
      s.tag = math.max(s.tag, p.vtime)
      let_stand(s, s.tag - p.vtime)
      s.refund = 0
      take_seat(call, s, p)
    end
    s, p = p, above(call, p)
    if not p then return end
  end
end

-- Its own messages and each node above them, but not the root, and what each sits below.
local function each_seat(call, n, visit)
  local s, p = n.own, n
  while p do
    visit(s, p)
    s, p = p, above(call, p)
  end
end

local function note_idle(call, n, running, at)
  local s, p = n.own, n
  while p do
    if s.run <= running and (count_of(s) == 0 or (s.blocked and not s.own)) then s.idle = at end
    p.changed = true
    s, p = p, p.above or above(call, p)
  end
end

-- A node's own run-time comes with its seats; the root sits nowhere.
local function each_node(call, n, visit)
  while n do
    visit(n)
    n = above(call, n)
  end
end

-- Another tag, in the place that it has.
local function retag(call, s, p, tag)
  if s.seated and s.own and tag ~= s.tag then rings.retag(call, s, p, tag) end
  s.tag = tag
  touch(call, s.own and s or p)
end

-- Another tag, and so another place: behind those that have the same.
function M.reseat(call, s, tag)
  local p = M.node(call, parent_of(s.path))
  local seated = s.seated
  if seated then leave_seat(call, s, p) end
  s.tag = tag
  if seated then take_seat(call, s, p) end
  p.changed = true
end

-- The pools that there are and that hold for it, each once.
local NO_NAMES = {}
local function pools_of(call, n)
  if not pools.any(call) then return NO_NAMES end
  local names, seen = {}, {}
  each_node(call, n, function(each)
    local name = each.pool
    if each.path ~= '' and not seen[name] and pools.exists(call, name) then
      seen[name] = true
      names[#names + 1] = name
    end
  end)
  return names
end

-- Those with ready messages, at `top` and below, by name.
function M.tenants(call, top)
  local found = {}
  for _, entry in ipairs(view.all(index(call, 'tn'))) do
    local path = entry[2]
    if top == '' or path == top or string.sub(path, 1, #top + 1) == top .. '/' then found[#found + 1] = path end
  end
  return found
end

-- The paths of which something runs.
function M.running(call)
  local paths = {}
  for i, entry in ipairs(view.all(index(call, 'rn'))) do paths[i] = entry[2] end
  return paths
end

-- How many run at `n` and below it, by what each has of its own.
function M.runs_below(call, n)
  local first, last, count = '-', '+', 0
  if n.path ~= '' then
    first, last, count = '[' .. n.path .. '/', '(' .. n.path .. '0', n.own.run  -- '0' is the byte behind '/'
  end
  for _, path in ipairs(redis.call('ZRANGEBYLEX', call.tag .. 'rn', first, last)) do count = count + M.node(call, path).own.run end
  return count
end
-- Whether it is in the lists where it should be.
function M.is_listed(call, n)
  local function stands(list) return redis.call('ZSCORE', call.tag .. list, n.path) ~= false end
  return stands('tn') == (n.own.count > 0) and stands('rn') == (n.own.run > 0)
end

M.parent_of, M.above, M.each_seat, M.each_node, M.retag, M.pools_of = parent_of, above, each_seat, each_node, retag, pools_of
M.count_of, M.child, M.index, M.list = count_of, child, index, list
M.touch, M.stamp, M.stand, M.let_stand = touch, stamp, stand, let_stand
M.take_seat, M.leave_seat, M.settle, M.note_idle = take_seat, leave_seat, settle, note_idle

function M.write(call)
  for path, n in pairs(call.nodes) do
    if n.changed then store.set(call, 'n:' .. path, records.node_bytes(n)) end
  end
  for _, ring in ipairs(call.rings) do view.write(ring) end
  for _, each in pairs(call.indexes) do view.write(each) end
end

return M
