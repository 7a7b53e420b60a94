-- messages - the life of one: where it stands, and what moves it from there.
local M = {}
local READY, DELAYED, LEASED, HELD, DEAD = records.READY, records.DELAYED, records.LEASED, records.HELD, records.DEAD

-- What a group has left gathers anew, from its oldest on.
function M.gather(call, n)
  if call.settings.linger == 0 then return end
  local since = queues.oldest(call, n.path)
  if since then tree.gather(call, n, since) end
end

local count = sums.count
local COUNTED = {pushed = 'pushed', leased = 'popped', acked = 'acked', retried = 'retried', released = 'released',
  buried = 'buried', expired = 'expired', cancelled = 'cancelled'}
local function tell(call, m, kind, more)
  if COUNTED[kind] then count(call, m.path, COUNTED[kind]) end
  events.note(call, m, kind, more)
end

-- Whether it was taken once and waits for its next start.
local function returns(m, state) return state == DELAYED and m.deliveries > 0 end

-- What is dead and in reach: kept for its time, and held again when what it died with lives again.
local function lie(call, m)
  view.put(places.graves(call), m.since, records.member_of(m))
  if store.ties(call, m) then waits.enter(call, m) end
end
local function lie_no_more(call, m)
  view.take(places.graves(call), records.member_of(m))
  if store.ties(call, m) then waits.leave(call, m) end
end

local function leave(call, m, at)
  count(call, m.path, records.STATES[m.state], -1)
  if returns(m, m.state) then count(call, m.path, 'returning', -1) end
  local n = seats.node(call, m.path)
  n.changed = true
  if m.state == READY then
    queues.take(call, m)
    queues.note_age(call, m, false)
    tree.unready(call, n, at)
  end
  if m.state == LEASED then
    local ticks = m.run_ticks or (call.now - m.began) * 100
    tree.ended(call, n, call.now, ticks, m.ticks, m.top_bytes)
    sums.serve(call, m.path, costs.given_by_run(call, ticks))
    m.run_ticks = nil
    if m.living then sessions.drop(call, m) end
    m.living, m.watched = false, false
  end
  if m.state == DEAD then
    count(call, m.path, 'bytes', m.bytes + m.step_bytes)
    return lie_no_more(call, m)
  end
  if m.state == HELD then view.take(places.helds(call), records.member_of(m)) end
  if store.ties(call, m) then waits.leave(call, m) end
end

local function enter(call, m, state, at)
  m.state = state
  count(call, m.path, records.STATES[state])
  if returns(m, state) then count(call, m.path, 'returning') end
  if state == READY or state == DEAD or state == HELD then m.since = at end
  if state == READY then
    bell.open(call, m.path)
    queues.put(call, m)
    queues.note_age(call, m, true)
    tree.ready(call, seats.node(call, m.path), m.bytes, at)
  end
  if state == DEAD then
    count(call, m.path, 'bytes', -m.bytes - m.step_bytes)  -- what is dead takes no room of what is allowed
    return lie(call, m)
  end
  if state == HELD then view.put(places.helds(call), 0, records.member_of(m)) end
  if store.ties(call, m) then waits.enter(call, m) end
end

-- Out of where it stands, into `state` or its end, with a timer or without; `at`: when that was.
local function move(call, m, state, due, at)
  m.changed = true
  if m.state then
    uniques.note(call, m, state)
    leave(call, m, at)
  end
  places.set_timer(call, m, due)
  if not store.has_ended(state) or state == DEAD then enter(call, m, state, at) end
end

-- A time to live holds before the first start only.
local function end_of_wait(m, since) return m.ttl > 0 and m.deliveries == 0 and since + m.ttl or nil end

local function make_ready(call, m, at) move(call, m, READY, end_of_wait(m, at), at) end

function M.come_back(call, m, delay)
  if delay > 0 then move(call, m, DELAYED, call.now + delay, call.now) else make_ready(call, m, call.now) end
end

-- One of another queue, as it was there; `at`: since when, or when it is due.
function M.arrive(call, m, state, at)
  if state == READY then return make_ready(call, m, at) end
  move(call, m, state, state == DELAYED and at or nil, at)
end

-- Likewise by a move, which is over with that.
function M.move_in(call, m, state, at)
  M.arrive(call, m, state, at)
  tell(call, m, 'freed')
end

function M.hold(call, m) move(call, m, HELD, nil, call.now) end

-- It has ended, and somebody may wait for that or for its room.
local function note_end(call, m)
  ends.note_end(call, m.id)
  if call.awaited then bell.note(call, 'r', m.path) end
end

-- It has ended and leaves nothing but that.
local function finish(call, m, what, verdict)
  local was_running = m.state == LEASED
  move(call, m, what, nil, call.now)
  view.take(places.ids(call), records.member_of(m))
  told.note(call, m, what, was_running, verdict)
  store.ended(call, m, what)
  tell(call, m, what)
  count(call, m.path, 'bytes', -m.bytes - m.step_bytes)
  note_end(call, m)
end

function M.note_leaving(call, m, queue) tell(call, m, 'leaving', {elsewhere = {queue, 0}}) end

-- On its way to another queue nobody serves it. What is dead nobody serves anyhow, and it is in no place.
function M.set_out(call, m, queue)
  m.leaving, m.changed = true, true
  if m.state == DEAD then lie_no_more(call, m) else move(call, m, HELD, nil, call.now) end
  M.note_leaving(call, m, queue)
end

-- It stays after all, as `was` says.
function M.turn_back(call, m, was)
  m.leaving, m.changed = false, true
  tell(call, m, 'freed')
  if m.state == DEAD then return lie(call, m) end
  M.arrive(call, m, was.state, was.at)
  if was.held_key then uniques.take_back(call, m) end
end

-- It leaves for another queue, and what is known of it here is where it has gone: that queue, and its id there.
function M.depart(call, m, to)
  move(call, m, 'cancelled', nil, call.now)
  view.take(places.ids(call), records.member_of(m))
  store.moved(call, m, to)
  tell(call, m, 'left', {elsewhere = to})
  count(call, m.path, 'bytes', -m.bytes - m.step_bytes)
  if call.awaited then
    bell.note_of(call, m.id)
    bell.note(call, 'r', m.path)
  end
end

function M.bury(call, m, what, at, failure)
  move(call, m, DEAD, nil, at)
  note_end(call, m)
  tell(call, m, what, {failure = failure})
end

-- Of one that says nothing of it itself.
local COMMAND_ATTEMPTS = 1
local function attempts_of(call, m)
  return call.settings.attempts_by_kind and m.is_command and COMMAND_ATTEMPTS or call.settings.attempts
end
local function attempts_max(call, m)
  if m.attempts_max ~= 0 then return m.attempts_max end
  return m.in_force ~= 0 and m.in_force or attempts_of(call, m)
end

-- True: that was the last one, and it is dead.
local function attempt_failed(call, m, delay, failure)
  m.attempts = m.attempts + 1
  if m.attempts >= attempts_max(call, m) then
    M.bury(call, m, 'buried', call.now, failure)
    return true
  end
  M.come_back(call, m, delay)
  return false
end

-- A new one, with what the client has packed of it; it stands nowhere yet. `p.arrives`: it was pushed to another queue, and
-- is not counted as pushed here; `p.from`: that one, where it is known, and its id there. `waits`: what it waits for, of a
-- push.
function M.add(call, p, waits)
  if call.n + call.step > records.ID_MAX then error(redis.error_reply('FQIDS there is none left')) end
  local m = {id = call.n + call.step, fifo = call.settings.fifo, key = p.key, path = p.path, attempts = 0,
    in_force = 0, crashes = 0, deliveries = 0, pushed = call.now, timer = 0, since = 0, serial = 0, began = 0,
    nonce = text.NO_NONCE, rest = p.rest, changed = true, priority = p.priority, attempts_max = p.attempts_max,
    bytes = p.bytes, ttl = p.ttl, keep = p.keep, is_command = p.is_command, pid = 0, ticks = 0,
    top_bytes = 0, step_bytes = 0}
  call.n = m.id
  call.messages[m.id] = m
  view.put(places.ids(call), m.id, records.member_of(m))
  count(call, m.path, 'bytes', m.bytes)
  local due = p.delay > 0 and call.now + p.delay or 0
  if p.arrives then
    tell(call, m, 'arrived', {rest = p.rest, elsewhere = p.from})
  else
    tell(call, m, 'pushed', {due = due, expires = m.ttl > 0 and math.max(due, call.now) + m.ttl or 0, rest = p.rest, waits = waits})
  end
  return m
end

-- Another payload, with what is said of it, in its place. `due`: and due then, not before.
function M.replace(call, m, p, due)
  count(call, m.path, 'bytes', p.bytes - m.bytes)
  if call.awaited then bell.note(call, 'r', m.path) end
  m.bytes, m.rest, m.keep, m.is_command, m.changed = p.bytes, p.rest, p.keep, p.is_command, true
  if due then move(call, m, DELAYED, due, call.now) end
  tell(call, m, 'replaced', {rest = p.rest, due = due})
end

-- Other values, which `change` sets: out of its place and into the one that they give.
function M.edit(call, m, change)
  local is_ready, before = m.state == READY, m.bytes
  if is_ready then queues.take(call, m) end
  change()
  m.changed = true
  if m.state ~= DEAD then count(call, m.path, 'bytes', m.bytes - before) end
  if call.awaited then bell.note(call, 'r', m.path) end
  if is_ready then queues.put(call, m) end
end
-- That is done; its time to live holds as it is now.
function M.edited(call, m, rest)
  if m.state == READY then places.set_timer(call, m, end_of_wait(m, m.since)) end
  tell(call, m, 'edited', {rest = rest, due = m.state == DELAYED and m.timer or 0})
end

-- It has its turn. Nothing starts: for who looks ahead.
function M.pass_over(call, m, n, top, more)
  queues.take(call, m)
  queues.note_age(call, m, false)
  m.ticks, m.top_bytes = tree.charge(call, n, top, m.bytes, more), #top
end

-- It is delivered, as `terms` say: `due`: until then, nil: for as long as the session lives; `attempts`, 0: as the
-- queue says; `watch`; `pid`. `more`: as one of a group, beside another.
function M.lease(call, m, n, top, terms, more)
  uniques.note(call, m, LEASED)
  M.pass_over(call, m, n, top, more)
  tree.started(call, n)
  tolls.started(call, m.bytes)
  sums.serve(call, m.path, costs.given_by_start(call, m.bytes))
  count(call, m.path, 'ready', -1)
  count(call, m.path, 'leased')
  if m.deliveries == 0 then sums.took(call, m.path, 'w', call.now - m.since) end
  call.serial = call.serial + 1
  m.state, m.serial, m.nonce, m.began, m.changed = LEASED, call.serial, call.session, call.now, true
  m.in_force = terms.attempts > 0 and terms.attempts or attempts_of(call, m)
  m.deliveries, m.living, m.watched = m.deliveries + 1, terms.due == nil, terms.watch
  m.pid = m.living and terms.pid or 0
  places.set_timer(call, m, terms.due)
  if m.living or m.watched then sessions.open(call, terms.pid) end
  if m.living then sessions.hold(call, m) else sessions.lend(call, m) end
  tell(call, m, 'leased', {until_ = terms.due, pid = m.pid})
end

-- Where who hurries meets it before what is due is done, its own time comes first.
function M.catch_up(call, m)
  if m.timer > 0 and m.timer <= call.now then M.fire(call, m.timer, records.member_of(m)) end
  return m
end

-- Whose turn it is and its first message, likewise: what has expired is not served. At most so many of them in one call.
local EXPIRED = 64
function M.next_turn(call, top, own)
  for _ = 1, EXPIRED do
    local n, m = lost.next_turn(call, top, own)
    if not m or M.catch_up(call, m).state == READY then return n, m end
  end
end

-- What the receipt holds, or nil and why it holds nothing.
function M.held_by(call, id, serial, nonce)
  local m = store.find(call, id)
  if not m then return nil, 'gone' end
  M.catch_up(call, m)
  if m.state ~= LEASED or m.serial ~= serial or m.nonce ~= nonce then return nil, 'stale' end
  -- Its job sleeps: who holds it gives it back, and nobody else has a say any more.
  if m.suspended and m.nonce ~= call.session then return nil, 'stale' end
  return m
end

-- Its job sleeps, and has come to its end: it comes back when its time is over, or when all that it waits for have
-- ended.
function M.fall_asleep(call, m)
  local ties, waits_on = store.ties(call, m), false
  for _, wait in ipairs(ties.waits) do
    local state = store.state(call, wait.id)
    wait.closed, wait.acked = state == nil or store.has_ended(state), state == nil or state == 'acked'
    if not wait.closed then wait.began, waits_on = waits.began(call), true end
  end
  local delay = math.max(0, ties.due - call.now)
  m.suspended, ties.due = false, call.now
  if waits_on then
    M.hold(call, m)
  else
    m.wait_failed, ties.waits = waits.has_failed(call, m), {}
    M.come_back(call, m, delay)
  end
  tell(call, m, 'released', {due = not waits_on and delay > 0 and call.now + delay or 0})
end

-- verdict: 0 ack, 1 retry, 2 release, 3 bury. What becomes of it: 'ok', 'buried', or 'slept'.
-- `run_us`: how long it ran, -1: since it was taken.
function M.judge(call, m, verdict, delay, failure, run_us)
  sums.took(call, m.path, 'r', call.now - m.began)
  if m.nonce ~= call.session then sessions.tell(call, m, sessions.ENDED) end
  -- What it ends with is no verdict, and tells nothing: it ran as long as it was leased.
  if m.suspended then
    M.fall_asleep(call, m)
    return 'slept'
  end
  if run_us >= 0 then m.run_ticks = math.floor(run_us / 10) end
  if verdict == 0 then
    finish(call, m, 'acked', failure)
  elseif verdict == 2 then
    M.come_back(call, m, delay)
    tell(call, m, 'released', {due = delay > 0 and call.now + delay or 0})
  else
    m.failure = records.failure(call.now, failure)
    if verdict == 3 then
      M.bury(call, m, 'buried', call.now, failure)
    elseif attempt_failed(call, m, delay, failure) then
      count(call, m.path, 'retried')
      return 'buried'
    else
      tell(call, m, 'retried', {due = delay > 0 and call.now + delay or 0, failure = failure})
    end
  end
  return 'ok'
end

function M.extend(call, m, duration)
  m.changed = true
  local until_ = call.now + duration
  if not m.living then places.set_timer(call, m, until_) end
  sessions.tell(call, m, sessions.EXTENDED, until_)
  tell(call, m, 'extended', {until_ = until_})
end

function M.cancel(call, m)
  sessions.tell(call, m, sessions.CANCELLED)
  finish(call, m, 'cancelled')
end

-- Its lease was lost at that time: it ran out, or who held it lives no more.
local CRASHES = 5  -- of a command, which fails only when it says so
M.RAN_OUT, M.DIED = 'its lease ran out', 'its holder died'
function M.crash(call, m, why, at)
  sessions.tell(call, m, sessions.ENDED)
  if m.suspended then return M.fall_asleep(call, m) end
  local failure = records.reason(why)
  m.crashes, m.failure = m.crashes + 1, records.failure(at, failure)
  if not m.is_command then
    if attempt_failed(call, m, 0, failure) then return end
  elseif m.crashes < CRASHES then
    M.come_back(call, m, 0)
  else
    return M.bury(call, m, 'buried', call.now, failure)
  end
  -- That its holder died the event itself says.
  tell(call, m, 'died', why ~= M.DIED and {failure = failure} or nil)
end

-- From the beginning, as if nothing had failed; `held`: what it came after is unfinished again.
function M.kick(call, m, held)
  m.attempts, m.crashes, m.ttl, m.failure, m.expired = 0, 0, 0, '', nil
  if held then M.hold(call, m) else make_ready(call, m, call.now) end
  tell(call, m, 'kicked')
end

function M.let_go(call, m, delay)
  tell(call, m, 'freed')
  M.come_back(call, m, delay)
end

-- What is due first happens, as of when it was due.
function M.fire(call, due, member)
  local m = lost.timed_one(call, due, member)
  if not m then return end
  if m.state == DELAYED then
    make_ready(call, m, due)
  elseif m.state == READY then
    m.failure, m.expired = records.failure(call.now, records.reason('expired')), true
    M.bury(call, m, 'expired', due)
  elseif call.now < call.grace then
    m.changed = true
    places.set_timer(call, m, call.grace)
  else
    m.run_ticks = (due - m.began) * 100  -- who looks late at a lease that is over does not make it longer
    M.crash(call, m, M.RAN_OUT, due)
  end
end

-- The dead that have been kept for their time go.
function M.forget_dead(call, most)
  for _ = 1, most do
    local first = places.first_grave(call)
    if not first or first[1] + call.settings.dead_retention > call.now then return end
    local m = lost.dead_one(call, first[2])
    if m then M.cancel(call, m) end
  end
end

return M
