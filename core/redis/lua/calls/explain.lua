-- explain - why a message or a tenant is served when it is. Changes nothing.
local M = {}
local PLACES = 512  -- so many turns are looked ahead
local RIVALS = 512  -- looked at by one call
local MOST = 2 ^ 53  -- that is counted

-- Whose turn is next, which it has: its message, by what, and its node.
local function take_turn(call, top)
  local node, m = lost.next_turn(call, top)
  if not node then return nil end
  local by = not call.ranked and 'turn' or ranks.is_turn_by_age(call, seats.node(call, top)) and 'age' or 'rank'
  messages.pass_over(call, m, node, top)
  return m, by, node
end

-- What is served next, one after the other: visit(m, whether it would start now, by what) until that says true. First comes all
-- that starts now, as far as that uses up no limit; then, in turns, what a limit keeps by then, as if there was none: the
-- turns are asked for once more, and who has started has had its own. Returns how many start now that had no turn then;
-- nil: that is not known, since there are more than `most`, or `visit` has said that it is enough.
local function walk(call, top, most, visit)
  local started, count, overtaking = {}, 0, 0
  while true do
    if count == most then return nil end
    local m, by, node = take_turn(call, top)
    if not m then break end
    tree.started(call, node)
    started[m.id], count, overtaking = true, count + 1, overtaking + 1
    if visit(m, true, by) then return nil end
  end
  local again = calls.look({call.root})
  again.foreseen = call.foreseen
  while count < most do
    local m, by = take_turn(again, top)
    if not m then break end
    if started[m.id] then
      overtaking = overtaking - 1
    else
      count = count + 1
      if visit(m, false, by) then return nil end
    end
  end
  return overtaking
end

-- Of a held one the way by which it waits for itself: it, what it waits for, and so on. Empty: it does not, as far as
-- FOLLOWED messages tell.
local FOLLOWED = 1000
local function cycle_of(call, m)
  local all, seen = {{m}}, {[m.id] = true}
  for i, each in ipairs(all) do
    for _, wait in ipairs(each[1].is_tied and store.ties(call, each[1]).waits or {}) do
      if not wait.closed and wait.id == m.id then
        local way = {}
        while each do
          table.insert(way, 1, text.num(each[1].id))
          each = all[each[2] or 0]
        end
        return way
      end
      local other = not wait.closed and not seen[wait.id] and #all < FOLLOWED and store.find(call, wait.id)
      if other and other.state == records.HELD then seen[wait.id], all[#all + 1] = true, {other, i} end
    end
  end
  return {}
end

-- id: how it ended, or nothing but that it has not; tenant, state, timer, since when, the process that holds it;
-- what it waits for; its reasons; how many of its tenant are before it (-1: it has no turns), its place ('': it is
-- far, or there is none), whether it starts later, and by what its turn is; whether others sit below its path; why its
-- last attempt failed; the way by which it waits for itself; where that is; where turns are counted, of one that is far:
-- how many start before it although their turns come behind it (-1: nobody knows), and how many could start as far as what
-- its tenant shares with others says.
function M.message(call, args)
  local id = tonumber(args[2])
  local m = store.find(call, id)
  if not m then return {redis.call('HGET', call.tag .. 'o', text.num(id))} end
  local n = seats.node(call, m.path)
  local will_start = m.state == records.READY or m.state == records.DELAYED or m.state == records.HELD
  local why = will_start and reasons.of(call, n) or {}
  local ahead, place, later, by, overtaking, left, has_kids = -1, '', 0, 'turn', -1, 0, n.kids > 0
  if m.state == records.READY then
    local _, member = queues.place_of(m)
    ahead = redis.call('ZRANK', call.tag .. 'q:' .. m.path, member) or 0
    local turn = 0
    left = math.min(reasons.left_shared(call, n), MOST)
    if #why == 0 and ahead >= reasons.left(call, n) then later = 1 end
    if #why == 0 and (ahead < PLACES or later == 1) then
      overtaking = walk(call, '', PLACES, function(each, starts_now, how)
        turn = turn + 1
        if each.id ~= id then return false end
        place, later, by = text.num(turn), starts_now and 0 or 1, how
        return true
      end) or -1
      if place == '' and reasons.left(call, n) == 0 then later = 1 end
    end
    if call.ranked or call.settings.fair_by ~= costs.TURNS then overtaking, left = -1, 0 end
  end
  local ids = {}
  for _, wait in ipairs(m.is_tied and m.state == records.HELD and store.ties(call, m).waits or {}) do
    if not wait.closed then ids[#ids + 1] = text.num(wait.id) end
  end
  return {false, m.path, m.state, text.num(m.timer), text.num(m.since), sessions.is_left_behind(call, m) and 0 or m.pid, ids, why, ahead, place, later, by,
    has_kids and 1 or 0, m.expired and 1 or 0, m.state == records.HELD and cycle_of(call, m) or {},
    sessions.host_of(call, m), overtaking, text.num(left)}
end

-- path: whether there is such a tenant, what is counted of its own messages, and its reasons.
function M.tenant(call, args)
  local path = args[2]
  local is_there = redis.call('EXISTS', call.tag .. 'n:' .. path, call.tag .. 'c:' .. path) > 0
  return {is_there and 1 or 0, records.sums_bytes(sums.of_tenant(call, path)),
    is_there and reasons.of(call, seats.node(call, path)) or {}}
end

-- path, n: of the next turns below it id, tenant, whether each starts later, and by what its turn is.
function M.next(call, args)
  local found = {}
  walk(call, args[2], math.min(tonumber(args[3]), PLACES), function(m, starts_now, by)
    found[#found + 1] = {text.num(m.id), m.path, starts_now and 0 or 1, by}
  end)
  return found
end

local function is_held_by(call, path, is_pool, name)
  if not is_pool then return name == '' or path == name or string.sub(path, 1, #name + 1) == name .. '/' end
  for _, pool in ipairs(seats.pools_of(call, seats.node(call, path))) do
    if pool == name then return true end
  end
  return false
end

-- list, from when and behind which id, n, whether a pool is meant, its name or the node's path: of those in the list that
-- hold a slot of it the ids; before these when and which the last one that was looked at is ('': there are no more).
function M.running(call, args)
  local n = tonumber(args[5])
  local page = pages.behind(call.tag .. args[2], args[3], tonumber(args[4]), n)
  local last = page[n]
  local found = {last and last[1] or '', last and text.num(last[2]) or ''}
  for _, each in ipairs(page) do
    local m = store.find(call, each[2])
    local holds = m and m.state == records.LEASED and is_held_by(call, m.path, args[6] == '1', args[7])
    if holds then found[#found + 1] = text.num(m.id) end
  end
  return found
end

-- path, from, n, how many are told: of those with something ready so many behind one: the last that was looked at;
-- how many cannot be served; of the first of these path, what is counted, and reasons.
function M.stuck(call, args)
  local top, most, last, count, found = args[2], tonumber(args[5]), '', 0, {}
  local first = args[3] == '' and '-' or '(' .. args[3]
  for _, path in ipairs(redis.call('ZRANGEBYLEX', call.tag .. 'tn', first, '+', 'LIMIT', 0, tonumber(args[4]))) do
    last = path
    local is_below = top == '' or path == top or string.sub(path, 1, #top + 1) == top .. '/'
    local n = is_below and seats.node(call, path) or nil
    if n and pick.is_blocked(call, n, true) then
      count = count + 1
      if #found < most then
        found[#found + 1] = {path, records.sums_bytes(sums.of_tenant(call, path)), reasons.of(call, n)}
      end
    end
  end
  return {last, count, found}
end

-- path, whether its own messages are meant and not the node, turns, from: of those that sit beside it so many behind
-- the first ones: whether there are more; its weight in thousandths, the largest of theirs, how many turns they
-- have at most before its last, and how many of it could start as far as it says itself.
function M.rivals(call, args)
  local n, is_own, turns, from = seats.node(call, args[2]), args[3] == '1', tonumber(args[4]), tonumber(args[5])
  local s, p = n, nil
  if is_own then s, p = n.own, n else p = seats.node(call, seats.parent_of(n.path)) end
  local function turn_of(each) return math.floor(costs.TURN / each.weight) end
  local last = math.max(s.tag, p.vtime) + math.max(0, turns - 1) * turn_of(s)
  local heaviest, before = 0, 0
  local function look_at(each, most)
    heaviest = math.max(heaviest, each.weight)
    if each.tag <= last then before = before + math.min(most, math.floor((last - each.tag) / turn_of(each)) + 1) end
  end
  if from == 0 and not is_own and p.own.seated then look_at(p.own, p.own.count) end
  local page = rings.page(call, p, from, RIVALS)
  for _, standing in ipairs(page) do
    local each = seats.child(call, p, standing[1])
    if each and (is_own or each ~= n) and rings.is_first_of(each, standing[2]) then
      look_at(each, each.kids == 0 and each.own.count or math.huge)
    end
  end
  local left = is_own and MOST or math.min(reasons.left_at(call, n), MOST)
  return {#page == RIVALS and 1 or 0, s.weight, heaviest, text.num(before), text.num(left)}
end

return M
