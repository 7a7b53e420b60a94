-- tree - whose turn it is: fq-fairness(7) in zsets.
--
-- A node of the tree has a seat in the ring of its parent, and its own messages have one in its own, beside
-- those of its children. Who has something sits. A ring is a zset of the children that sit: their tags, and of
-- equal tags who took its place first. The seat of a node's own messages is in the node's record, so a tenant
-- without children needs no ring.
local M = {}
local TURN = 2520000000
local FORGIVEN_PER_MS = TURN / 10

local function parent_of(path) return string.match(path, '^(.*)/[^/]*$') or '' end

function M.node(call, path)
  local n = call.nodes[path]
  if not n then
    n = records.node(path, redis.call('GET', call.tag .. 'n:' .. path))
    call.nodes[path] = n
  end
  return n
end

local function order_of(member) return (struct.unpack('>I8', member)) end
local function ring_of(call, n)
  local ring = call.rings[n.path]
  if not ring then
    ring = view.open(call.tag .. 'r:' .. n.path, order_of)
    call.rings[n.path] = ring
  end
  return ring
end

-- The tenants with ready messages of their own, and the nodes of which something runs, by path.
local function no_order() return nil end
local function index(call, name)
  if not call.indexes[name] then call.indexes[name] = view.open(call.tag .. name, no_order) end
  return call.indexes[name]
end
local function list(call, name, path, is_in)
  if is_in then view.put(index(call, name), 0, path) else view.take(index(call, name), path) end
end

local function count_of(s) return s.own and s.kids + (s.own.seated and 1 or 0) or s.count end

local function take_seat(call, s, p)
  s.seated = true
  s.seq = p.joins
  p.joins = p.joins + 1
  if s.own then
    view.put(ring_of(call, p), s.tag, struct.pack('>I8', s.seq) .. s.path)
    p.kids = p.kids + 1
  end
end

local function leave_seat(call, s, p)
  s.seated = false
  if s.own then
    view.take(ring_of(call, p), struct.pack('>I8', s.seq) .. s.path)
    p.kids = p.kids - 1
  end
end

-- A turn behind the clock. What it has used before it owes, less what time forgives. The product of a long time
-- is split: above 2^53 it would be rounded.
local function newcomer_tag(s, p, at)
  local owed = s.tag
  if s.run == 0 then
    local idle = math.max(0, at - s.idle)
    local whole = math.floor(idle / s.weight)
    local rest = idle - whole * s.weight
    owed = owed - whole * FORGIVEN_PER_MS - math.floor(rest * FORGIVEN_PER_MS / s.weight)
  end
  return math.max(p.vtime + math.floor(TURN / s.weight), owed)
end

-- Sits or leaves as it has something or not, and so on upwards while that changes something. `arrival`: when
-- the first message came; nil: none did.
local function settle(call, s, p, arrival)
  while true do
    local count = count_of(s)
    local wanted = count > 0 and not s.blocked
    if arrival and not s.seated and count == 1 then s.tag = newcomer_tag(s, p, arrival) end
    s.changed, p.changed = true, true
    if (s.seated or false) == wanted then return end
    if s.seated then
      leave_seat(call, s, p)
    else
      s.tag = math.max(s.tag, p.vtime)
      take_seat(call, s, p)
    end
    if p.path == '' then return end
    s, p = p, M.node(call, parent_of(p.path))
  end
end

-- Its own messages and each node above them, but not the root, and what each sits below.
local function each_seat(call, n, visit)
  visit(n.own, n)
  while n.path ~= '' do
    local p = M.node(call, parent_of(n.path))
    visit(n, p)
    n = p
  end
end

local function note_idle(call, n, running, at)
  each_seat(call, n, function(s, p)
    if count_of(s) == 0 and s.run <= running then s.idle = at end
    s.changed, p.changed = true, true
  end)
end

-- A node's own run-time comes with its seats; the root sits nowhere.
local function each_node(call, n, visit)
  visit(n)
  while n.path ~= '' do
    n = M.node(call, parent_of(n.path))
    visit(n)
  end
end

-- When time says something else of it than at `now`; math.huge: it starts nothing for no reason of time.
local function due_of(n, now)
  local due, token = math.huge, limits.token_at(n.limits)
  if n.limited > now then due = n.limited end
  if token > now then due = math.min(due, token) end
  return due
end

-- It is blocked or not, as it stands at `now`.
local function look_again(call, n, now)
  local due = due_of(n, now)
  if due < math.huge then
    view.take(index(call, 'nt'), n.path)
    view.put(index(call, 'nt'), due, n.path)
  elseif n.blocked then
    view.take(index(call, 'nt'), n.path)
  end
  local blocked = n.paused or due < math.huge or n.run >= n.limits.concurrency
  if (n.blocked or false) == blocked then return end
  n.blocked, n.changed = blocked, true
  if n.path ~= '' then settle(call, n, M.node(call, parent_of(n.path))) end
end

-- The pools that there are and that hold for it, each once.
local function pools_of(call, n)
  local names, seen = {}, {}
  if not pools.any(call) then return names end
  each_node(call, n, function(each)
    local name = each.pool
    if each.path ~= '' and not seen[name] and pools.exists(call, name) then
      seen[name] = true
      names[#names + 1] = name
    end
  end)
  return names
end

local function add_running(call, n, more)
  if n.own.run == 0 or n.own.run + more == 0 then list(call, 'rn', n.path, more > 0) end
  n.own.run = n.own.run + more
  each_node(call, n, function(each)
    each.run, each.changed = each.run + more, true
    if more > 0 then limits.take(each.limits, call.now) end
    look_again(call, each, call.now)
  end)
end

-- One more of its own messages is ready.
function M.ready(call, n, at)
  n.own.count = n.own.count + 1
  n.changed = true
  if n.own.count > 1 then return end
  list(call, 'tn', n.path, true)
  settle(call, n.own, n, at)
end

-- One fewer, without a turn.
function M.unready(call, n, at)
  n.own.count = n.own.count - 1
  if n.own.count == 0 then list(call, 'tn', n.path, false) end
  settle(call, n.own, n)
  note_idle(call, n, 0, at)
end

-- It or a node above it starts nothing now, or a pool that holds for it has no room.
function M.is_blocked(call, n)
  local blocked = false
  each_node(call, n, function(each) blocked = blocked or each.blocked end)
  for _, name in ipairs(pools_of(call, n)) do blocked = blocked or not pools.has_room(call, name) end
  return blocked
end

local function has_own_turn(own, first)
  return own.seated and (not first or own.tag < first[1] or (own.tag == first[1] and own.seq < first[3]))
end

-- Below `n` the node that can be served, where pools may be in the way of some.
local function next_by_pools(call, n)
  if n.pool ~= '' and pools.exists(call, n.pool) and not pools.has_room(call, n.pool) then return nil end
  local own_done = not n.own.seated
  for _, entry in ipairs(view.all(ring_of(call, n))) do
    if not own_done and has_own_turn(n.own, entry) then return n end
    local found = next_by_pools(call, M.node(call, string.sub(entry[2], 9)))
    if found then return found end
  end
  return not own_done and n or nil
end

-- The node at `top` or below whose own first message has the turn, or nil.
function M.next(call, top)
  local n = M.node(call, top)
  if M.is_blocked(call, n) then return nil end
  if pools.any(call) then return next_by_pools(call, n) end
  while true do
    local first = n.kids > 0 and view.first(ring_of(call, n)) or nil
    if has_own_turn(n.own, first) then return n end
    if not first then return nil end
    n = M.node(call, string.sub(first[2], 9))
  end
end

-- It has that turn: what lies below `top` pays for it.
function M.charge(call, n, top)
  n.own.count = n.own.count - 1
  if n.own.count == 0 then list(call, 'tn', n.path, false) end
  local s, p = n.own, n
  while true do
    leave_seat(call, s, p)
    p.vtime = math.max(p.vtime, s.tag)
    s.tag = p.vtime + math.floor(TURN / s.weight)
    if count_of(s) > 0 and not s.blocked then take_seat(call, s, p) end
    s.changed, p.changed = true, true
    if p.path == top then break end
    s, p = p, M.node(call, parent_of(p.path))
  end
  if p.path ~= '' then settle(call, p, M.node(call, parent_of(p.path))) end
end

function M.started(call, n)
  add_running(call, n, 1)
  for _, name in ipairs(pools_of(call, n)) do pools.started(call, name) end
end
function M.ended(call, n, at)
  note_idle(call, n, 1, at)
  add_running(call, n, -1)
  for _, name in ipairs(pools_of(call, n)) do pools.add_running(call, name, -1) end
end

-- When a node or a pool that time has blocked is to be looked at.
function M.due(call)
  local first = view.first(index(call, 'nt'))
  return math.min(first and first[1] or math.huge, pools.due(call))
end

-- What was blocked until now is so no more.
function M.fire(call)
  local first = view.first(index(call, 'nt'))
  if not first or first[1] > call.now then return false end
  view.take(index(call, 'nt'), first[2])
  look_again(call, M.node(call, first[2]), first[1])
  return true
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

-- What runs in pools, after tenants or pools have changed.
local function count_pools(call)
  if not pools.any(call) then return end
  pools.count_anew(call)
  for _, entry in ipairs(view.all(index(call, 'rn'))) do
    local n = M.node(call, entry[2])
    for _, name in ipairs(pools_of(call, n)) do pools.add_running(call, name, n.own.run) end
  end
end
function M.set_pools(call, rules)
  pools.set(call, rules)
  count_pools(call)
end

-- Another weight holds from the next turn on. The tag that was given by the old one is not later than a turn by
-- the new one.
local function set_weight(call, n, weight)
  local p = M.node(call, parent_of(n.path))
  local before = n.weight
  n.weight = weight
  local tag = math.min(n.tag, p.vtime + math.floor(TURN / weight))
  if weight == before or n.tag <= p.vtime or tag == n.tag then return end
  local seated = n.seated
  if seated then leave_seat(call, n, p) end
  n.tag = tag
  if seated then take_seat(call, n, p) end
  p.changed = true
end

local WEIGHT, POOL, PAUSED, LIMITED = 20, 21, 22, 24  -- PolicyKey

-- What holds for a node from now on: values by key, one that is missing is the usual. Of the time of `limited` only
-- what was set now counts: it is told apart from the others.
function M.set(call, path, values)
  local n = M.node(call, path)
  limits.set(n.limits, values, call.now)
  n.paused = values[PAUSED] ~= nil
  n.limited = values[LIMITED] and values[LIMITED][1] or 0
  local pool = values[POOL] and values[POOL][3] or ''
  local other_pool = pool ~= n.pool
  n.pool, n.changed = pool, true
  if path ~= '' then set_weight(call, n, values[WEIGHT] and values[WEIGHT][1] or 1000) end
  look_again(call, n, call.now)
  if other_pool then count_pools(call) end
end

-- What of it does not agree with its ring, with that of its parent, and with what it has ready.
function M.faults(call, path, ready)
  local n, faults = M.node(call, path), {}
  if n.own.count ~= ready then faults[#faults + 1] = 'counts other ready messages than its queue has' end
  if n.kids ~= redis.call('ZCARD', call.tag .. 'r:' .. path) then faults[#faults + 1] = 'counts others than its ring has' end
  if (n.own.seated or false) ~= (n.own.count > 0) then faults[#faults + 1] = 'its own messages sit where they should not' end
  if path == '' then return faults end
  local member = struct.pack('>I8', n.seq) .. path
  local tag = redis.call('ZSCORE', call.tag .. 'r:' .. parent_of(path), member)
  local seated = n.seated or false
  if seated ~= (count_of(n) > 0 and not n.blocked) or seated ~= (tag ~= false) or (tag and tonumber(tag) ~= n.tag) then
    faults[#faults + 1] = 'sits where it should not'
  end
  return faults
end

function M.write(call)
  local changed = {}
  for path, n in pairs(call.nodes) do
    if n.changed then
      changed[#changed + 1] = call.tag .. 'n:' .. path
      changed[#changed + 1] = records.node_bytes(n)
    end
  end
  text.call('MSET', nil, changed)
  for _, ring in pairs(call.rings) do view.write(ring) end
  for _, each in pairs(call.indexes) do view.write(each) end
  pools.write(call)
end

return M
