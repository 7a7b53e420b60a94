-- import - takes in messages that another queue has exported, with all that is known of them. args: run, sessions, then of each
-- how many steps it has, how it is known, tenant, fields, sort key and rest as of push, its past, its failure, then of each
-- step name, kept and output. reply: head, then of each what became of it and its id. Where there is no room for one of them
-- none is taken.
local M = {}

-- state, whether it expired, attempts, those in force, crashes; deliveries; pushed, since or due, due and delay of a held one, the message that
-- it is held behind; then of each that it came after: id, whether any end will do, whether that has ended
local PAST = '<BBHHHI4ddddd'
local WAIT = '<dBB'
local WAIT_BYTES = 10
local PAST_BYTES = 52
local REMEMBERED = 604800000
local FIELDS = 8  -- of a message, beside its steps

local function read(call, bytes)
  local past = {waits = {}}
  past.state, past.expired, past.attempts, past.in_force, past.crashes, past.deliveries, past.pushed, past.since, past.due, past.delay,
    past.behind = struct.unpack(PAST, bytes)
  for at = PAST_BYTES + 1, #bytes, WAIT_BYTES do
    local id, any, closed = struct.unpack(WAIT, bytes, at)
    -- What had let a dead one go before it died: a kick would hold it for that again.
    local is_over = closed == 1 and past.state == records.DEAD
    if not is_over then past.waits[#past.waits + 1] = {id = id, any = any == 1, closed = closed == 1} end
  end
  if past.due > 0 then past.due = pace.at(call, past.due) end
  if past.state == records.DELAYED then past.since = pace.at(call, past.since) end
  return past
end

local function note(call, token, id) uniques.note_import(call, token, id, call.now + REMEMBERED) end

-- Of it is known how it ended, and no more.
local function add_ended(call, path, past)
  local m = {id = call.n + call.step, path = path, attempts = past.attempts}
  call.n = m.id
  store.ended(call, m, past.state == records.ACKED and 'acked' or 'cancelled')
  return m
end

local function tie(call, m, p, past, leader)
  if p.text == '' and #past.waits == 0 and not leader then return end
  local ties = store.ties(call, m, true)
  ties.key, ties.unique_for, ties.due = p.text, p.unique_for, past.due
  ties.delay = past.delay > 0 and past.delay or -1
  m.debounced = p.kind == push.DEBOUNCE
  for _, each in ipairs(past.waits) do
    ties.waits[#ties.waits + 1] = {id = each.id, any = each.any, for_key = false, closed = each.closed, began = waits.began(call)}
    if not each.closed and store.has_ended(store.state(call, each.id)) then ends.note(call, each.id) end
  end
  if not leader then return end
  ties.behind = leader.id
  store.ties(call, leader, true).follower = m.id
  leader.changed = true
  for _, each in ipairs(past.waits) do
    if each.id == leader.id then return end
  end
  ties.waits[#ties.waits + 1] = {id = leader.id, any = true, for_key = true, closed = false, began = waits.began(call)}
end

-- What is held for nothing would never be let go: it is due when it would have been, or at once.
local function settle_state(call, past, leader)
  if past.state ~= records.HELD or leader then return end
  for _, each in ipairs(past.waits) do
    if not each.closed then return end
  end
  past.since = past.delay > 0 and call.now + past.delay or math.max(past.due, call.now)
  past.state = past.since > call.now and records.DELAYED or records.READY
  past.waits = {}
end

-- What it has: `at`: its first argument.
local function add(call, args, at, count)
  local p, past = push.read(call, args[at + 2], args[at + 3], args[at + 4], args[at + 5]), read(call, args[at + 6])
  if past.state == records.ACKED or past.state == records.CANCELLED then return add_ended(call, p.path, past) end
  local leader = past.behind ~= 0 and store.find(call, past.behind) or nil
  settle_state(call, past, leader)
  local holds = p.text ~= '' and past.state ~= records.DEAD and not leader
  if holds and uniques.holder(call, p.path, p.kind == push.DEBOUNCE, p.text) then return nil end
  p.delay, p.arrives = 0, true
  local m = messages.add(call, p)
  m.attempts, m.in_force, m.crashes, m.deliveries, m.pushed = past.attempts, past.in_force, past.crashes, past.deliveries,
    past.pushed
  if args[at + 7] ~= '' then m.failure = args[at + 7] end
  m.expired = past.expired == 1 or nil
  tie(call, m, p, past, leader)
  if holds then uniques.take(call, m) end
  messages.arrive(call, m, past.state, past.since)
  for i = 1, count do
    local step = at + FIELDS + 3 * (i - 1)
    steps.import(call, m, args[step], args[step + 1], args[step + 2], i)
  end
  call.ops = call.ops + FIELDS + 3 * count
  return m
end

-- Adds what became of one. Returns a refusal.
local function take(call, args, at, count, answers)
  local token, last = args[at + 1], #answers
  local known = uniques.imported(call, token)
  if known then
    answers[last + 1], answers[last + 2] = 'known', text.num(known)
    return nil
  end
  if call.settings.is_draining then return redis.error_reply('FQDRAINING it is') end
  amounts.begin(call)
  local m = add(call, args, at, count)
  if not m then
    answers[last + 1], answers[last + 2] = 'held', '0'
    return nil
  end
  local refusal = m.state and m.state ~= records.DEAD and amounts.refusal(call, m.path)
  if refusal then return amounts.fault(refusal) end
  note(call, token, m.id)
  answers[last + 1], answers[last + 2] = 'imported', text.num(m.id)
end

local function meet(call, args)
  local paths, at = {}, 3
  while call.rules > 0 and args[at] do paths[#paths + 1], at = args[at + 2], at + FIELDS + 3 * tonumber(args[at]) end
  return terms.meet_all(call, paths)
end

function M.run(keys, args)
  local call, fault = calls.begin(keys, args[1], args[2])
  if not call then return fault end
  local head, answers, at = calls.head(call), {}, 3
  if not call.more and not meet(call, args) then call.more, head[3] = true, 1 end
  while not call.more and args[at] do
    local count = tonumber(args[at])
    fault = take(call, args, at, count, answers)
    if fault then return fault end
    at = at + FIELDS + 3 * count
  end
  calls.finish(call)
  return {head, answers}
end

return M
