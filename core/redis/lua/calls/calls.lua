-- calls - one call of a client: what is read before it and written after it, so that a call that fails has
-- written nothing.
local M = {}
local SCHEMA = '4'
local FIRED = 64       -- timers, in one call
-- Ids and serials that a restarted server may have forgotten to have given: 2^24, or 64 for each ms since then, and 2^37 (24 days
-- of that) at the most, of which 64 jumps in each of 1,024 shards are as many as there are.
local JUMP, JUMP_MOST = 16777216, 137438953472
local GRACE = 15000
local UNHEARD, SPARED = 6000, 8000  -- who lives says so each 5 s, and somewhat later where another server hangs
local HELD = 256       -- of sessions that are over, in one call

-- A number of the root that is lost has its usual value. But nothing else says which id is the next one and what holds for the
-- queue: a root without them is as good as none.
local MISSING = 'FQMISSING there is no such queue'
local function number(bytes) return tonumber(bytes or 0) or 0 end

-- Without effect: what is due is not done yet. Also returns when the last call was. Of more than 64 fields, with those that
-- a push adds, the table of a call would be grown once more in each.
function M.look(keys)
  local root = redis.call('HMGET', keys[1], 'schema', 'now', 'n', 'serial', 'sums', 'file', 'set', 'run', 'grace',
    'waits', 'ended', 'ops', 'usual', 'stamps', 'limited', 'schedules', 'rules', 'step', 'weight', 'lent', 'waiters', 'crossing', 'events', 'awaited', 'idle', 'lead', 'spared', 'made')
  if not root[1] then return nil, redis.error_reply(MISSING) end
  if root[1] ~= SCHEMA then return nil, redis.error_reply('FQSCHEMA ' .. root[1] .. ' ' .. SCHEMA) end
  local before, n, serial, step = number(root[2]), tonumber(root[3]), tonumber(root[4]), tonumber(root[18] or 1)
  local set = settings.of(root[6], root[7])
  if not n or not serial or not step or not set then return nil, redis.error_reply(MISSING) end
  local call = {root = keys[1], tag = string.sub(keys[1], 1, -2), n = n, serial = serial,
    sums = records.sums(root[5]), settings = set, run = root[8],
    grace = number(root[9]), waits = number(root[10]), ops = number(root[12]),
    usual_run = number(root[13]), stamps = number(root[14]),
    limited = number(root[15]), schedules = number(root[16]), rules = number(root[17]), step = step, weight = number(root[19]), opened = number(root[21]) > 0 and 0, schedule_changes = {}, amounts = {}, unlimited = {}, touched = {}, rank_views = {}, nodes = {}, rings = {}, queues = {},
    messages = {}, outcomes = {}, outcome_of = {}, uniques = {}, waiters = {}, events = {}, ended = ends.none(),
    is_ended = {}, held = {}, alive = {}, attends = {}, closed = {}, news = {}, timed = {}, outputs = {}, indexes = {}, ages = {}, aged = {}, tenant_sums = {}, lately = {0, 0, 0}, told = {}, forgotten = {}, steps = {}, unstepped = {}, sets = {}, times = {}, session = ''}
  call.ranked = call.settings.ranked
  call.before = {waits = call.waits, ended = root[11] or '', usual_run = call.usual_run, limited = call.limited, idle = tonumber(root[25]) or math.huge, spared = number(root[27]), made = number(root[28])}
  if root[22] then call.crossing = tonumber(root[22]) end
  if root[23] then
    call.horizon = events.horizon(root[23])
    if not call.horizon then return nil, redis.error_reply('FQEVENTS kept for no time') end
  end
  if call.opened then call.opened_paths = {} end
  awaited.read(call, root[24])
  ends.read(call, call.before.ended)
  lent.read(call, root[20] or '')
  -- Of the dead, of those told of after their end, of nodes that time blocks and of pools many queues have none: then nobody
  -- looks for their first.
  call.has_none = redis.call('EXISTS', call.tag .. 'd', call.tag .. 'zt', call.tag .. 'nt', call.tag .. 'p') == 0
  call.now, call.pace = pace.follow(root[26], before, time.read(keys[1]))
  return call, nil, before
end

-- Ids and serials of a server that was started anew, or that took over, begin behind all that may have been
-- given and were lost; and no lease is over before its holder could say that it is not.
local function follow_server(call, run, before)
  if call.run == run then return end
  if call.run then
    local jump = math.min(math.max(JUMP, 64 * (call.now - before)), JUMP_MOST)
    local left = math.max(0, math.floor((records.ID_MAX - call.n) / call.step))
    call.n, call.serial, call.grace = call.n + math.min(jump, left) * call.step, call.serial + jump, call.now + GRACE
  end
  call.run, call.other_run = run, true
  shares.reset(call)
end

-- Where nobody was heard although there are sessions, the server stood still or its clock went ahead, and it has yet to hear
-- who lives: until then no session is over. Or all are dead, which is found so much later, once: from then on nobody is heard,
-- whose end would lie behind that. A lease that was taken for a time is over by time, whoever stood still.
local function follow_stop(call, before)
  if call.now - before <= UNHEARD then return end
  local last = redis.call('ZRANGE', call.tag .. 's', 0, 0, 'REV', 'WITHSCORES')
  if last[1] and tonumber(last[2]) >= call.before.spared then call.spared = call.now + SPARED end
end

-- When the first session is over, should nobody hear of it.
local function end_of_session(call)
  local first = view.first(sessions.deadlines(call))
  if not first then return math.huge end
  return sessions.end_of(first[1], call.grace, call.spared or call.before.spared), first[2]
end

-- What it holds comes back, as far as one call does it. False: there is more.
function M.end_session(call, nonce)
  local left = HELD - (call.taken_back or 0)
  local ids = sessions.held(call, nonce, left + 1)
  for i = 1, math.min(left, #ids) do
    local m = lost.held_one(call, nonce, ids[i])
    if m then messages.crash(call, m, messages.DIED, call.now) end
  end
  call.taken_back = HELD - left + math.min(left, #ids)
  if #ids > left then return false end
  sessions.close(call, nonce)
  return true
end

-- When time changes something here, but for sessions that are over: their ends are no news while they live.
local function due_of(call)
  if ends.first(call) then return 0 end
  local timer, grave, ended = view.first(places.timers(call)), places.first_grave(call), told.first(call)
  return math.min(timer and timer[1] or math.huge, ended and ended[1] or math.huge, tree.due(call),
    grave and grave[1] + call.settings.dead_retention or math.huge)
end
-- The same, and when a client has something to see to.
local function next_of(call, due) return math.min(due, schedules.due(call), crossings.due(call)) end
function M.has_more(call) return math.min(due_of(call), (end_of_session(call))) <= call.now end

-- What is due first is done. False: nothing is, or no more in this call.
local function fire(call)
  local first, node, session_end, nonce = view.first(places.timers(call)), tree.due(call), end_of_session(call)
  local due = first and first[1] or math.huge
  call.fired_at = math.min(due, session_end, node)
  if call.fired_at > call.now then return false end
  if due <= math.min(node, session_end) then
    messages.fire(call, due, first[2])
  elseif node <= session_end then
    tree.fire(call)
  else
    return M.end_session(call, nonce)
  end
  return true
end

-- What is due is done, at most so much; call.more: not all of it. `nonces`: the sessions of who calls; call.hurries: who
-- waited long enough, and is served with the rest undone where the function can do that, see messages.catch_up().
function M.begin(keys, run, nonces)
  local call, fault, before = M.look(keys)
  if not call then return nil, fault end
  follow_server(call, run, before)
  follow_stop(call, before)
  schedules.follow_clock(call)
  sessions.hear(call, nonces)
  local fired = 0
  while fired < FIRED and fire(call) do fired = fired + 1 end
  call.fired_at = nil
  if fired < FIRED then
    after.settle(call)
    messages.forget_dead(call, FIRED)
    told.forget(call, FIRED)
    after.settle(call)
  end
  call.more = M.has_more(call)
  return call
end

-- The head of each reply: now, when the next timer is due (-1: none), whether more are due now (1: nothing else was done), the queue's attempts,
-- whether those of commands are others, whether a schedule is due, and whether a message that left can be brought to its end;
-- a client has to see to those two; what the server's clock says, and whether it has to be noted that this library is used.
function M.head(call)
  local due, clock = next_of(call, due_of(call)), pace.clock(call)
  return {call.now, due < math.huge and due or -1, call.more and 1 or 0, call.settings.attempts,
    call.settings.attempts_by_kind and 1 or 0, schedules.is_due(call) and 1 or 0, crossings.is_due(call) and 1 or 0, clock, use.hint(call.root, clock)}
end

-- Whether somebody reads the hints below: who looks for work of one of several shards, and who waits for some.
local function are_read(call) return call.step ~= 1 or bells.are_heard(call) end

-- When time changes something, but for schedules, and when a session ends; before anything is written, which moves what
-- is read.
local function first_dues(call)
  if not are_read(call) then return math.huge, math.huge end
  return due_of(call), (end_of_session(call))
end

-- Whether something may be served; likewise. Of one of several shards without a look at each pool.
local function is_open(call)
  if not are_read(call) then return false end
  if call.step == 1 then return pick.any(call, '') end
  if seats.node(call, '').blocked then return false end
  return not lent.any_of_runs(call) or pick.any(call, '')
end

-- What is read in place of a call, see visits.h and glance.h: what sits in it by weight, what of that may be served and what
-- its turns cost, when time changes something, and when a session ends if nobody hears of it. Schedules are those that were
-- written. Of the only shard also by which call, since most need not say it.
local function hints_of(call, due, session_end, open, toll)
  if not are_read(call) then return {} end
  local function time(at) return at < math.huge and text.num(at) or '-1' end
  local weight = call.step ~= 1 and call.weight or 1
  local hints = {'open', text.num(open and weight or 0) .. toll, 'due', time(next_of(call, due)), 'session', time(session_end)}
  if call.step ~= 1 then
    hints[#hints + 1], hints[#hints + 2] = 'weight', text.num(weight)
  else
    hints[#hints + 1], hints[#hints + 2] = 'hinted', text.num(call.ops + 1)
  end
  return hints
end

function M.finish(call)
  after.settle(call)
  local due, session_end = first_dues(call)
  local toll = tolls.bytes(call)
  local lent_bytes = shares.bytes(call, call.top or '')
  if lent_bytes ~= '' then call.lent_bytes = lent_bytes end
  if bells.are_heard(call) then bells.prepare(call, next_of(call, due)) end
  ranks.prepare(call)
  local open = is_open(call)
  local listed = idle.prepare(call)
  told.write(call)
  store.write(call)
  queues.write(call)
  places.write(call)
  uniques.write(call)
  waits.write(call)
  crossings.write(call)
  lent.write(call)
  sessions.write(call)
  runs.write(call)
  outputs.write(call)
  steps.write(call)
  schedules.write(call)
  sums.write(call)
  histograms.write(call)
  amounts.write(call)
  events.write(call)
  ranks.write(call)
  seats.write(call)
  pools.write(call)
  store.write_sets(call)
  local idle_from = idle.write(call, listed)
  awaited.write(call)
  local root = {'now', call.now, 'n', call.n, 'serial', call.serial, 'sums', records.sums_bytes(call.sums), 'ops', call.ops + 1}
  local before, ended = call.before, ends.bytes(call)
  if call.waits ~= before.waits then root[#root + 1], root[#root + 2] = 'waits', call.waits end
  if ended ~= before.ended then root[#root + 1], root[#root + 2] = 'ended', ended end
  local lead = pace.bytes(call)
  if lead then root[#root + 1], root[#root + 2] = 'lead', lead end
  if call.usual_run ~= before.usual_run then root[#root + 1], root[#root + 2] = 'usual', call.usual_run end
  for _, each in ipairs(hints_of(call, due, session_end, open, toll)) do root[#root + 1] = each end
  for _, each in ipairs(bells.write(call)) do root[#root + 1] = each end
  if call.ranked then root[#root + 1], root[#root + 2] = 'stamps', text.num(call.stamps) end
  if lent_bytes ~= (call.lent_before or '') then root[#root + 1], root[#root + 2] = 'lent', lent_bytes end
  if before.limited ~= call.limited then
    for _, each in ipairs({'limited', text.num(call.limited)}) do root[#root + 1] = each end
  end
  if idle_from ~= before.idle then
    for _, each in ipairs({'idle', idle_from < math.huge and text.num(idle_from) or ''}) do root[#root + 1] = each end
  end
  if call.other_run then
    for _, each in ipairs({'run', call.run, 'grace', text.num(call.grace)}) do root[#root + 1] = each end
  end
  if call.spared then root[#root + 1], root[#root + 2] = 'spared', text.num(call.spared) end
  if call.made then root[#root + 1], root[#root + 2] = 'made', call.made end
  redis.call('HSET', call.root, unpack(root))
end

-- Does what args[3] names of `things`, once nothing else is due, or `at_last` says that who hurries need not wait for that.
-- Reply: the head, what that answers, and 1 where more is used now than was lent.
function M.one_of(things, keys, args, at_last)
  local call, fault = M.begin(keys, args[1], args[2])
  if not call then return fault end
  local answer = {}
  if call.hurries and at_last and at_last[args[3]] then call.more = false end
  if not call.more then
    answer, fault = things[args[3]](call, args)
    if fault then return fault end
  end
  local head = M.head(call)
  M.finish(call)
  return {head, answer, call.overdrawn}
end

return M
