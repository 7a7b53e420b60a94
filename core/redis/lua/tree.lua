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
    if arrival and not s.seated and count == 1 then s.tag = newcomer_tag(s, p, arrival) end
    s.changed, p.changed = true, true
    if s.seated == (count > 0) then return end
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

local function add_running(call, n, more)
  each_seat(call, n, function(s, p) s.run = s.run + more end)
  local root = M.node(call, '')
  root.run = root.run + more
  root.changed = true
end

-- One more of its own messages is ready.
function M.ready(call, n, at)
  n.own.count = n.own.count + 1
  n.changed = true
  if n.own.count == 1 then settle(call, n.own, n, at) end
end

-- One fewer, without a turn.
function M.unready(call, n, at)
  n.own.count = n.own.count - 1
  settle(call, n.own, n)
  note_idle(call, n, 0, at)
end

-- The node at `top` or below whose own first message has the turn, or nil.
function M.next(call, top)
  local n = M.node(call, top)
  while true do
    local first = n.kids > 0 and view.first(ring_of(call, n)) or nil
    local own = n.own
    local is_own = own.seated and (not first or own.tag < first[1] or (own.tag == first[1] and own.seq < first[3]))
    if is_own then return n end
    if not first then return nil end
    n = M.node(call, string.sub(first[2], 9))
  end
end

-- It has that turn: what lies below `top` pays for it.
function M.charge(call, n, top)
  n.own.count = n.own.count - 1
  local s, p = n.own, n
  while true do
    leave_seat(call, s, p)
    p.vtime = math.max(p.vtime, s.tag)
    s.tag = p.vtime + math.floor(TURN / s.weight)
    if count_of(s) > 0 then take_seat(call, s, p) end
    s.changed, p.changed = true, true
    if p.path == top then break end
    s, p = p, M.node(call, parent_of(p.path))
  end
  if p.path ~= '' then settle(call, p, M.node(call, parent_of(p.path))) end
end

function M.started(call, n) add_running(call, n, 1) end
function M.ended(call, n, at)
  note_idle(call, n, 1, at)
  add_running(call, n, -1)
end

-- Another weight holds from the next turn on. The tag that was given by the old one is not later than a turn by
-- the new one.
function M.set_weight(call, path, weight)
  local n = M.node(call, path)
  local p = M.node(call, parent_of(path))
  local before = n.weight
  n.weight = weight
  n.changed = true
  local tag = math.min(n.tag, p.vtime + math.floor(TURN / weight))
  if weight == before or n.tag <= p.vtime or tag == n.tag then return end
  local seated = n.seated
  if seated then leave_seat(call, n, p) end
  n.tag = tag
  if seated then take_seat(call, n, p) end
  p.changed = true
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
end

return M
