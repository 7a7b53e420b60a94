-- tree - the tenants as messages come and go: who sits and who pays, by fq-fairness(7).
local M = {}
local above, settle, each_seat, note_idle = seats.above, seats.settle, seats.each_seat, seats.note_idle
local index, list, count_of, take_seat, leave_seat, retag = seats.index, seats.list, seats.count_of, seats.take_seat, seats.leave_seat, seats.retag
local pools_of = seats.pools_of

-- When time says something else of it than at `now`; math.huge: it starts nothing for no reason of time.
local function due_of(n, now)
  local due, token = math.huge, limits.token_at(n.limits)
  if n.limited > now then due = n.limited end
  if token > now then due = math.min(due, token) end
  return due
end

local function is_blocked(n, due) return n.paused or due < math.huge or n.run >= n.limits.concurrency end

-- It is blocked or not, as it stands at `now`.
local function look_again(call, n, now)
  local due = due_of(n, now)
  if due < math.huge then
    view.take(index(call, 'nt'), n.path)
    view.put(index(call, 'nt'), due, n.path)
  elseif n.blocked then
    view.take(index(call, 'nt'), n.path)
  end
  local blocked = is_blocked(n, due)
  if (n.blocked or false) == blocked then return end
  n.blocked, n.changed = blocked, true
  if not blocked then bell.open(call, n.path, n.kids > 0) end
  if n.path ~= '' then settle(call, n, above(call, n)) end
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
  if gathers then
    settle(call, n.own, n)
    return note_idle(call, n, 0, now)
  end
  bell.open(call, n.path)
  settle(call, n.own, n, costs.of_group(call, n.own, now), now, true)
end

-- By a timer at that timer's time: what time has blocked for longer stays so until its own turn comes among the timers.
local function add_running(call, n, more)
  local own, now, usual = n.own, call.fired_at or call.now, limits.USUAL
  if own.run == 0 or own.run + more == 0 then list(call, 'rn', n.path, more > 0) end
  own.run = own.run + more
  while n do
    n.run, n.changed = n.run + more, true
    -- In the way of most nodes there is nothing, and nothing can be.
    if n.limits ~= usual or n.blocked or n.paused or n.limited ~= 0 then
      if more > 0 then limits.take(n.limits, now) end
      look_again(call, n, now)
    end
    n = n.above or above(call, n)
  end
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

-- One fewer, without a turn. While they gather it has been idle all the time: what it owes goes on to be forgiven from then.
function M.unready(call, n, at)
  local was_idle = n.own.blocked
  n.own.count = n.own.count - 1
  if n.own.count == 0 then
    list(call, 'tn', n.path, false)
    if n.own.blocked then set_gathering(call, n, false) end
  end
  settle(call, n.own, n)
  if not was_idle then note_idle(call, n, 0, at) end
end

-- What it has gathers from its oldest on, which is ready since then.
function M.gather(call, n, since)
  n.own.since = since
  gather_again(call, n, not has_gathered(call, n.own, call.now), call.now)
end

-- Those of its seats up to `top` that would have the turn anyhow.
local function turns_of(call, n, top)
  local its_turn, s, p = {}, n.own, n
  while true do
    its_turn[s] = pick.is_first(call, s, p)
    if p.path == top then return its_turn end
    s, p = p, above(call, p)
  end
end

-- Where its turn begins. Who was passed over makes up nothing; but by time, a tag in the past may be one that was charged too
-- much: `refund` is how far the clock may be taken back for that. Own messages are in no pool, and never passed over.
local function begin_of_turn(call, s, p)
  if call.settings.fair_by ~= costs.TIME or call.ranked then return math.max(s.tag, p.vtime) end
  return s.own and math.max(s.tag, p.vtime - s.refund) or s.tag
end
-- A turn moves its tag, however late it is: beyond 2^53 a number has no ones any more, and who has short turns would have all.
local function after_turn(tag, turn)
  while turn > 0 and tag + turn == tag do turn = 2 * turn end
  return tag + turn
end
local function note_refund(s, p, begin)
  if s.own then s.refund = math.max(0, p.vtime - begin) end
end

-- It has that turn with a payload of so many bytes: what lies below `top` pays for it. Returns what of that is an
-- expected run. `more`: it has it beside another one, as one of a group; then
-- the clock goes on only where it would have been its turn anyhow.
function M.charge(call, n, top, bytes, more)
  local own = n.own
  local cost, ticks = costs.of_start(call, own, bytes)
  local its_turn = more and turns_of(call, n, top)
  local by_age = not more and ranks.is_turn_by_age(call, seats.node(call, top))
  own.count = own.count - 1
  if own.count == 0 then list(call, 'tn', n.path, false) end
  local s, p = own, n
  while true do
    leave_seat(call, s, p)
    local begin, turn = begin_of_turn(call, s, p), math.floor(cost / s.weight)
    if not more or its_turn[s] then
      if begin ~= s.tag then seats.let_stand(s, 0) end
      -- The clock shows what was used, not what is only expected: who comes meanwhile would wait for all of that.
      p.vtime = math.max(p.vtime, s.tag - costs.turn_of_ticks(s, s.expected))
      s.tag = begin
    end
    s.tag = after_turn(s.tag, turn)
    note_refund(s, p, begin + turn)
    s.expected = s.expected + ticks
    if not s.blocked and count_of(s) > 0 then
      take_seat(call, s, p)
      if by_age then seats.stamp(call, s) end
    end
    p.changed = true
    if p.path == top then break end
    s, p = p, above(call, p)
  end
  if p.path ~= '' then settle(call, p, above(call, p)) end
  if not more then ranks.had_turn(call, p, by_age) end
  return ticks
end

function M.started(call, n)
  add_running(call, n, 1)
  lent.start(call, lent.QUEUE_RATE)
  for _, name in ipairs(pools_of(call, n)) do pools.started(call, name) end
end

-- It has run for so many ticks, of which `expected` were charged below a node of `top_bytes`.
function M.ended(call, n, at, ticks, expected, top_bytes)
  if expected ~= 0 and call.settings.fair_by == costs.TIME then
    local took, paid = costs.of_run(call, n.own, ticks), true
    tolls.ended(call, took * costs.TICK)
    each_seat(call, n, function(s, p)
      paid = paid and not (s.own and #s.path == top_bytes)
      if not paid then return end
      local stands = math.min(s.expected, expected)
      s.expected = s.expected - stands
      -- What was too much is taken back as far as it still stands.
      local more = costs.turn_of_ticks(s, took) - costs.turn_of_ticks(s, expected)
      if more < 0 then more = math.max(more, -costs.turn_of_ticks(s, stands), -s.tag) end
      -- Who was passed over has been made level by that, whatever it was charged before.
      if begin_of_turn(call, s, p) == s.tag then note_refund(s, p, s.tag + more) end
      retag(call, s, p, s.tag + more)
    end)
  end
  note_idle(call, n, 1, at)
  add_running(call, n, -1)
  for _, name in ipairs(pools_of(call, n)) do pools.add_running(call, name, -1) end
end

-- When a node or a pool that time has blocked is to be looked at.
local function first_of_time(call)
  if call.has_none and not call.indexes.nt then return nil end
  return view.first(index(call, 'nt'))
end
function M.due(call)
  local first = first_of_time(call)
  return math.min(first and first[1] or math.huge, pools.due(call))
end

-- What was blocked until now is so no more.
function M.fire(call)
  local first = first_of_time(call)
  if not first or first[1] > call.now then return false end
  view.take(index(call, 'nt'), first[2])
  if string.sub(first[2], -1) == '/' then
    local n = seats.node(call, string.sub(first[2], 1, -2))
    gather_again(call, n, n.own.blocked and not has_gathered(call, n.own, first[1]), first[1])
  else
    look_again(call, seats.node(call, first[2]), first[1])
  end
  return true
end

M.look_again = look_again

-- What is wrong with whether it starts anything, and with when time changes that. What is due by now the next call does.
function M.faults_of(call, n)
  local faults, own, due = {}, n.own, due_of(n, call.now)
  local function timer(member) return tonumber(redis.call('ZSCORE', call.tag .. 'nt', member) or nil) or math.huge end
  local at, own_at = timer(n.path), timer(n.path .. '/')
  if at > call.now and (at ~= due or (n.blocked or false) ~= is_blocked(n, due)) then
    faults[1] = 'starts nothing where it should, or something where it should not'
  end
  if own_at > call.now and own_at ~= (own.blocked and own.since + call.settings.linger or math.huge) then
    faults[#faults + 1] = 'gathers until another time than it is looked at'
  end
  return faults
end
-- As it stands now, whatever was said of it.
function M.mend(call, n)
  view.take(index(call, 'nt'), n.path)
  look_again(call, n, call.now)
  gather_again(call, n, n.own.blocked and not has_gathered(call, n.own, call.now), call.now)
end

return M
