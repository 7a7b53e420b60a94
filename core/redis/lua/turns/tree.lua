-- tree - whose turn it is: fq-fairness(7) in zsets.
--
-- A node of the tree has a seat in the ring of its parent, and its own messages have one in its own, beside
-- those of its children. Who has something sits. A ring is a zset of the children that sit: their tags, and of
-- equal tags who took its place first. The seat of a node's own messages is in the node's record, so a tenant
-- without children needs no ring.
local M = {}
local FORGIVEN_PER_MS = 252000000

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

-- Sits or leaves as it has something or not, and so on upwards while that changes something. `cost`: of the
-- first message that came, and when that was; nil: none did. `group`: it is one that has gathered.
local function settle(call, s, p, cost, at, group)
  while true do
    local count = count_of(s)
    local wanted = count > 0 and not s.blocked
    if cost and not s.seated and (count == 1 or (group and not s.own)) then s.tag = newcomer_tag(s, p, cost, at) end
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
    local idle = count_of(s) == 0 or (s.blocked and not s.own)
    if idle and s.run <= running then s.idle = at end
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

-- Whether it waits for nothing more: its messages have gathered, or there are none.
local function has_gathered(call, own, now)
  return own.count == 0 or own.count >= call.settings.batch or own.since + call.settings.linger <= now
end

-- Its own messages gather from now on, or do not any more.
local function set_gathering(call, n, gathers)
  view.take(index(call, 'nt'), n.path .. '/')
  if gathers then view.put(index(call, 'nt'), n.own.since + call.settings.linger, n.path .. '/') end
  n.own.blocked, n.changed = gathers, true
end
local function gather_again(call, n, gathers, now)
  local did = n.own.blocked or false
  set_gathering(call, n, gathers)
  if gathers == did then return end
  if gathers then return settle(call, n.own, n) end
  settle(call, n.own, n, costs.of_group(call, n.own, now), now, true)
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

-- One more of its own messages is ready, with a payload of so many bytes.
function M.ready(call, n, bytes, at)
  local own = n.own
  own.count = own.count + 1
  n.changed = true
  if own.count == 1 then list(call, 'tn', n.path, true) end
  if own.count == 1 and call.settings.linger > 0 then own.blocked, own.since = true, at end
  own.since = math.min(own.since, at)
  local gathers = own.blocked and own.count < call.settings.batch
  local gathered = own.blocked and not gathers
  if own.blocked then set_gathering(call, n, gathers) end
  local opens = gathered and own.count > 1
  if gathers or (own.count > 1 and not opens) then return end
  local cost = opens and costs.of_group(call, own, at) or costs.of_first(call, own, bytes, at)
  settle(call, own, n, cost, at, opens)
end

-- One fewer, without a turn.
function M.unready(call, n, at)
  n.own.count = n.own.count - 1
  if n.own.count == 0 then
    list(call, 'tn', n.path, false)
    if n.own.blocked then set_gathering(call, n, false) end
  end
  settle(call, n.own, n)
  note_idle(call, n, 0, at)
end

-- What it has gathers from its oldest on, which is ready since then.
function M.gather(call, n, since)
  n.own.since = since
  gather_again(call, n, not has_gathered(call, n.own, call.now), call.now)
end

-- It or a node above it starts nothing now, or a pool that holds for it has no room. `of_own`: its own messages.
function M.is_blocked(call, n, of_own)
  local blocked = n.own.blocked and of_own or false
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

-- Whether this seat has the turn among those below `p`.
local function is_first(call, s, p)
  local first = p.kids > 0 and view.first(ring_of(call, p)) or nil
  if pools.any(call) then
    first = nil
    for _, entry in ipairs(view.all(ring_of(call, p))) do
      first = first or (next_by_pools(call, M.node(call, string.sub(entry[2], 9))) and entry)
    end
  end
  if not s.own then return has_own_turn(p.own, first) end
  return first ~= nil and not has_own_turn(p.own, first) and string.sub(first[2], 9) == s.path
end

-- It has that turn with a payload of so many bytes: what lies below `top` pays for it. Returns what of that is an
-- expected run. `more`: it has it beside another one, as one of a group; then
-- the clock goes on only where it would have been its turn anyhow.
function M.charge(call, n, top, bytes, more)
  local cost, ticks = costs.of_start(call, n.own, bytes)
  local its_turn = {}
  local s, p = n.own, n
  while true do
    its_turn[s] = not more or is_first(call, s, p)
    if p.path == top then break end
    s, p = p, M.node(call, parent_of(p.path))
  end
  n.own.count = n.own.count - 1
  if n.own.count == 0 then list(call, 'tn', n.path, false) end
  s, p = n.own, n
  while true do
    leave_seat(call, s, p)
    if its_turn[s] then
      p.vtime = math.max(p.vtime, s.tag)
      -- Who was passed over makes up nothing; by time, a tag in the past may be one that was charged too much.
      if call.settings.fair_by ~= costs.TIME then s.tag = p.vtime end
    end
    s.tag = s.tag + math.floor(cost / s.weight)
    if count_of(s) > 0 and not s.blocked then take_seat(call, s, p) end
    s.changed, p.changed = true, true
    if p.path == top then break end
    s, p = p, M.node(call, parent_of(p.path))
  end
  if p.path ~= '' then settle(call, p, M.node(call, parent_of(p.path))) end
  return ticks
end

function M.started(call, n)
  add_running(call, n, 1)
  for _, name in ipairs(pools_of(call, n)) do pools.started(call, name) end
end
-- Another tag, in the place that it has.
local function retag(call, s, p, tag)
  if s.seated and s.own and tag ~= s.tag then
    local member = struct.pack('>I8', s.seq) .. s.path
    view.take(ring_of(call, p), member)
    view.put(ring_of(call, p), tag, member)
  end
  s.tag = tag
end

-- It has run for so many ticks, of which `expected` were charged below a node of `top_bytes`.
function M.ended(call, n, at, ticks, expected, top_bytes)
  if expected ~= 0 and call.settings.fair_by == costs.TIME then
    local took, paid = costs.of_run(call, n.own, ticks), true
    each_seat(call, n, function(s, p)
      paid = paid and not (s.own and #s.path == top_bytes)
      if not paid then return end
      local tag = s.tag + math.floor(took * costs.TICK / s.weight)
      retag(call, s, p, tag - math.min(tag, math.floor(expected * costs.TICK / s.weight)))
    end)
  end
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
  if string.sub(first[2], -1) == '/' then
    local n = M.node(call, string.sub(first[2], 1, -2))
    gather_again(call, n, n.own.blocked and not has_gathered(call, n.own, first[1]), first[1])
  else
    look_again(call, M.node(call, first[2]), first[1])
  end
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

-- Another tag, and so another place: behind those that have the same.
function M.reseat(call, s, tag)
  local p = M.node(call, parent_of(s.path))
  local seated = s.seated
  if seated then leave_seat(call, s, p) end
  s.tag = tag
  if seated then take_seat(call, s, p) end
  p.changed = true
end

-- The paths of which something runs.
function M.running(call)
  local paths = {}
  for i, entry in ipairs(view.all(index(call, 'rn'))) do paths[i] = entry[2] end
  return paths
end

M.parent_of, M.each_seat, M.retag, M.look_again, M.pools_of = parent_of, each_seat, retag, look_again, pools_of
M.count_of = count_of

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
