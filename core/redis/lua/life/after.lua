-- after - messages that come after others: held until those have ended.
local M = {}

-- What a new one waits for, each once; `behind`: the one that has its key.
local function waits_of(p, behind)
  if #p.after == 0 and not behind then return p.after end
  local found, seen = {}, {}
  local function add(each)
    if seen[each.id] then return end
    seen[each.id] = true
    found[#found + 1] = each
  end
  for _, each in ipairs(p.after) do add(each) end
  if behind then add({id = behind.id, any = true, for_key = true}) end
  return found
end

-- A new one: held where it came after something, or behind the one that has its key.
function M.add(call, p, behind)
  local waits_for = waits_of(p, behind)
  local m = messages.add(call, p, waits_for)
  if #waits_for == 0 then
    messages.come_back(call, m, p.delay)
    return m
  end
  local ties = store.ties(call, m, true)
  if behind then
    ties.behind = behind.id
    store.ties(call, behind, true).follower = m.id
    behind.changed = true
  end
  for _, each in ipairs(waits_for) do
    ties.waits[#ties.waits + 1] = {id = each.id, any = each.any, for_key = each.for_key, closed = false, began = waits.began(call)}
    if store.has_ended(store.state(call, each.id)) then ends.note(call, each.id) end
  end
  ties.due = call.now + p.delay
  messages.hold(call, m)
  return m
end

-- It is not served any more, since that one was not acked.
local function fail(call, m, ended, state)
  local how = state == 'cancelled' and 'was cancelled' or 'is dead'
  local why = records.reason('message ' .. text.num(ended) .. ', which it came after, ' .. how)
  m.failure = records.failure(call.now, why)
  messages.bury(call, m, 'buried', call.now, why)
end

-- What it waited for has ended so.
local function settle_wait(call, m, ended, state)
  local ties = store.ties(call, m)
  local failed, open = false, false
  for _, wait in ipairs(ties.waits) do
    if wait.id == ended then
      waits.close(call, m, wait, state == 'acked')
      failed = not wait.any and not wait.acked
    end
    open = open or not wait.closed
  end
  m.changed = true
  if failed then return fail(call, m, ended, state) end
  if open then return end
  uniques.leave_leader(call, m)
  m.wait_failed = waits.has_failed(call, m)
  waits.leave(call, m)
  ties.waits = {}
  local delay = ties.delay >= 0 and ties.delay or ties.due - call.now
  ties.delay = -1
  messages.let_go(call, m, delay)
end

-- A dead one lives again, held where what it came after is unfinished.
function M.kick(call, m)
  local was_dead = m.state == records.DEAD
  if was_dead then ends.note(call, m.id) end
  uniques.regain(call, m)
  local ties, holds = store.ties(call, m), false
  if ties and #ties.waits > 0 then
    waits.leave(call, m)
    for _, wait in ipairs(ties.waits) do
      local state = store.state(call, wait.id)
      wait.closed = store.has_ended(state) or state == nil
      wait.acked = state == 'acked' or state == nil and wait.acked
      wait.began = waits.began(call)
      holds = holds or not wait.closed
    end
    if not holds then ties.waits = {} end
  end
  messages.kick(call, m, holds)
end

-- Of those that it came after the first that has failed and lives no more; nil: none. One that nobody knows any more
-- counts as it ended, if it ended while it was waited for, and else as failed.
local function failed_by(call, m)
  for _, wait in ipairs(store.ties(call, m).waits) do
    local state = store.state(call, wait.id)
    if state == nil and wait.acked then state = 'acked' end
    if not wait.any and state ~= 'acked' and (state == nil or store.has_ended(state)) then return wait.id end
  end
  return nil
end

local function hold_again(call, id)
  local member = waits.first_buried(call, id)
  while member and ends.may_go_on(call) do
    local m = store.find(call, queues.id_of(member))
    waits.pass_over(call, member, id)
    if m and m.state == records.DEAD and store.ties(call, m) then
      local other = failed_by(call, m)
      if other then waits.stay(call, member, other) else M.kick(call, m) end
    end
    ends.count_step(call)
    member = waits.first_buried(call, id)
  end
end

-- It is back from its way to another queue: what it died with may live again meanwhile.
function M.turn_back(call, m, was)
  messages.turn_back(call, m, was)
  if m.state ~= records.DEAD or not store.ties(call, m) then return end
  for _, wait in ipairs(store.ties(call, m).waits) do
    local state = store.state(call, wait.id)
    if state and not store.has_ended(state) then ends.note(call, wait.id) end
  end
end

-- It was acked after all: that is noted with those that are dead, or held for others, while it is known.
local function note_acked(call, id)
  local member = waits.first_told(call, id)
  while member and ends.may_go_on(call) do
    local m = store.find(call, queues.id_of(member))
    waits.pass_over(call, member, id)
    for _, wait in ipairs(m and m.is_tied and store.ties(call, m).waits or {}) do
      if wait.id == id then wait.closed, wait.acked, m.changed = true, true, true end
    end
    ends.count_step(call)
    member = waits.first_told(call, id)
  end
end

-- Those that waited for what ended first go first, and among them those that began to wait first.
function M.settle(call)
  local id = ends.first(call)
  while id and ends.may_go_on(call) do
    local state = store.state(call, id)
    if store.has_ended(state) then
      local member = waits.first(call, id)
      while member and ends.may_go_on(call) do
        local m = store.find(call, queues.id_of(member))
        waits.let_go(call, member, id)  -- also where it is lost that it waits, or all of it
        if m and m.state == records.HELD and store.ties(call, m) then settle_wait(call, m, id, state) end
        ends.count_step(call)
        member = waits.first(call, id)
      end
      if state == 'acked' then note_acked(call, id) end
    else
      hold_again(call, id)
    end
    if not ends.may_go_on(call) then return end
    ends.done(call)
    id = ends.first(call)
  end
end

return M
