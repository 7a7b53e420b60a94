-- work - verdicts, then longer leases, then the next lease; each may be empty.
-- args: run, sessions; what is wanted; tenant; how many verdicts, of each id, serial, nonce, verdict, delay and
-- run, failure, output; how many extensions and for how long, of each id, serial, nonce.
-- reply: head; answers to verdicts; answers to extensions; of each delivery id, serial, record (of the
-- first ones), deadline; whether
-- something could be served; whether the queue is idle, where that is asked; news of watched leases; what it was lent, as in the root; what the
-- deliveries cost, see tolls.lua; ids that were passed over since their records are lost, where there are some.
local M = {}
-- What is wanted: how many, bytes at most, ms of the lease (-1: the queue's), attempts (0: the queue's), of a group at
-- most (0: no groups), the process; whether the first is taken however long it is, whether they are held by living,
-- whether they are watched; what is said again, since an answer was lost; of the last lease that was heard of, its serial;
-- of bells.lua, what it does; the last of the news that it heard of, after its length; then loans, see lent.lua.
local WANTED = '<dddddI4BBBBdBBc0'
local VERDICTS, LEASES = 1, 2  -- that are said again
-- Where nothing is taken it hears of what comes; it comes since it heard of something; it asks whether the queue is idle.
local LISTENS, RUNG, ASKS_IDLE = 1, 2, 4
local ACK, RETRY, RELEASE, BURY = 0, 1, 2, 3  -- Verdict
local WITH_RECORD = 64 -- deliveries whose records come with them; the client asks for those of the others

local function read_wanted(call, bytes)
  local w, terms, duration, any_first, living, watch, bells_said = {}, {}, nil, nil, nil, nil, nil
  w.want, w.bytes_max, duration, terms.attempts, w.group_max, terms.pid, any_first, living, watch, w.again, w.heard, bells_said, w.heard_news, w.loans_at =
    struct.unpack(WANTED, bytes)
  if duration < 0 then duration = call.settings.lease end
  if living == 0 then terms.due = call.now + duration end
  terms.watch, w.any_first, w.terms = watch == 1, any_first == 1, terms
  w.group_max = math.min(w.group_max, call.settings.batch)
  w.listens, w.rung, w.asks_idle = bells_said % RUNG == LISTENS, bells_said % ASKS_IDLE >= RUNG, bells_said >= ASKS_IDLE
  return w
end

-- A verdict that was given already says once more what it said then.
local function said_before(call, id, serial, verdict)
  local m = store.find(call, id)
  if not m then return verdict == ACK and store.state(call, id) == 'acked' and 'ok' or nil end
  if m.serial ~= serial or m.state == records.LEASED then return nil end
  if m.state == records.DEAD then return verdict == BURY and 'ok' or verdict == RETRY and 'buried' or nil end
  return (verdict == RETRY or verdict == RELEASE) and 'ok' or nil
end

-- Whole groups: all of one tenant that can be served now, then the next one's, until enough are taken.
local function lease(call, w, top)
  local taken, bytes, group, left = {}, 0, nil, 0
  while true do
    local n, m = nil, nil
    if left > 0 or #taken < w.want then n, m = messages.next_turn(call, top, left > 0 and group) end
    local fits = m and ((#taken == 0 and w.any_first) or bytes + m.bytes <= w.bytes_max)
    if fits then
      bytes = bytes + m.bytes
      messages.lease(call, m, n, top, w.terms, left > 0)
      taken[#taken + 1] = m
    elseif left == 0 then
      break
    end
    if left > 0 then
      left = fits and left - 1 or 0
    elseif w.group_max > 0 then
      group, left = n, math.min(w.group_max, 1 + n.own.count) - 1
    end
    if w.group_max > 0 and left == 0 then messages.gather(call, group) end
  end
  return taken, w.terms.due or 0, w.terms.watch and sessions.news(call, w.heard_news) or {}
end

local function settle(call, args, at, count, is_again)
  local answers = {}
  for i = 1, count do
    local m, refusal = messages.held_by(call, tonumber(args[at]), tonumber(args[at + 1]), args[at + 2])
    local verdict, delay, run_us = struct.unpack('<Bdd', args[at + 3])
    if m then m.output_time = outputs.time_of(args[at + 5]) end
    answers[i] = m and messages.judge(call, m, verdict, delay, args[at + 4], run_us) or
      is_again and said_before(call, tonumber(args[at]), tonumber(args[at + 1]), verdict) or refusal
    if m and (m.gone or m.state == records.DEAD) then outputs.keep(call, m, args[at + 5]) end
    at = at + 6
    after.settle(call)
  end
  return answers, at
end

local function extend(call, args, at)
  local answers, count, duration = {}, struct.unpack('<dd', args[at])
  at = at + 1
  for i = 1, count do
    local m, refusal = messages.held_by(call, tonumber(args[at]), tonumber(args[at + 1]), args[at + 2])
    if m then messages.extend(call, m, duration) end
    answers[i] = refusal or 'ok'
    at = at + 3
  end
  return answers
end

function M.run(keys, args)
  local call, fault = calls.begin(keys, args[1], args[2])
  if not call then return fault end
  local wanted, answers, extended, taken, due, news = {}, {}, {}, {}, 0, {}
  -- What is due comes before what is served: whoever wants something makes the messages first.
  local waits = call.more and not call.hurries or schedules.go_first(call)
  if not waits then
    schedules.were_first(call)
    local w, at = read_wanted(call, args[3]), nil
    wanted = w
    if w.again >= LEASES then holdings.take_back_unheard(call, w.heard) end
    answers, at = settle(call, args, 6, tonumber(args[5]), w.again % LEASES == VERDICTS)
    extended = extend(call, args, at)
    lent.take_all(call, args[3], w.loans_at)
    taken, due, news = lease(call, w, args[4])
    if call.opened or w.listens then w.taken, w.tenant, call.taker = #taken, args[4], w end
  end
  local servable = pick.any(call, args[4]) and 1 or 0
  local is_idle = wanted.asks_idle and awaited.is_idle(call) and 1 or 0
  call.top = args[4]
  local head = calls.head(call)
  head[3] = waits and 1 or call.more and 2 or 0  -- 2: it is done, and there may be more to serve once the rest is
  calls.finish(call)
  if call.taker and call.taker.is_kept then head[2] = -1 end
  local deliveries = {}
  for _, m in ipairs(taken) do
    local name = records.name_of(m)
    local record = #deliveries < 4 * WITH_RECORD and redis.call('GET', call.tag .. 'm:' .. name)
    for _, each in ipairs({name, text.num(m.serial), record, due}) do deliveries[#deliveries + 1] = each end
  end
  return {head, answers, extended, deliveries, servable, is_idle, news, call.lent_bytes or '', tolls.paid(call) or '', call.lost}
end

return M
