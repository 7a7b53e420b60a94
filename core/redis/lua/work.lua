-- work - verdicts, then longer leases, then the next lease; each may be empty.
-- args: run, sessions; what is wanted; tenant; how many verdicts, of each id, serial, nonce, verdict and delay,
-- failure, output; how many extensions and for how long, of each id, serial, nonce.
-- reply: head; answers to verdicts; answers to extensions; of each delivery id, serial, record, deadline; whether
-- something could be served; whether the queue is idle; news of watched leases.
local M = {}
-- What is wanted: how many, bytes at most, ms of the lease (-1: the queue's), attempts (0: the queue's), the
-- process; whether the first is taken however long it is, whether they are held by living, whether they are
-- watched.
local WANTED = '<ddddI4BBB'

local function lease(call, args)
  local any_first, living, watch
  local want, bytes_max, duration
  local terms = {}
  want, bytes_max, duration, terms.attempts, terms.pid, any_first, living, watch = struct.unpack(WANTED, args[3])
  if duration < 0 then duration = call.settings.lease end
  if living == 0 then terms.due = call.now + duration end
  terms.watch = watch == 1
  local top = args[4]
  local taken, bytes = {}, 0
  while #taken < want do
    local n = tree.next(call, top)
    if not n then break end
    local m = messages.first_of(call, n)
    bytes = bytes + m.bytes
    if bytes > bytes_max and (#taken > 0 or any_first == 0) then break end
    messages.lease(call, m, n, top, terms)
    taken[#taken + 1] = m
  end
  return taken, terms.due or 0, terms.watch and sessions.news(call) or {}
end

local function settle(call, args, at, count)
  local answers = {}
  for i = 1, count do
    local m, refusal = messages.held_by(call, tonumber(args[at]), tonumber(args[at + 1]), args[at + 2])
    local verdict, delay = struct.unpack('<Bd', args[at + 3])
    answers[i] = m and messages.judge(call, m, verdict, delay, args[at + 4]) or refusal
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
  local answers, extended, taken, due, news = {}, {}, {}, 0, {}
  if not call.more then
    local at
    answers, at = settle(call, args, 6, tonumber(args[5]))
    extended = extend(call, args, at)
    taken, due, news = lease(call, args)
  end
  local servable = tree.next(call, args[4]) and 1 or 0
  local is_idle = call.sums.ready + call.sums.leased + call.sums.returning == 0 and 1 or 0
  local head = calls.head(call)
  calls.finish(call)
  local deliveries = {}
  for _, m in ipairs(taken) do
    local name = text.num(m.id)
    local record = redis.call('GET', call.tag .. 'm:' .. name)
    for _, each in ipairs({name, text.num(m.serial), record, due}) do deliveries[#deliveries + 1] = each end
  end
  return {head, answers, extended, deliveries, servable, is_idle, news}
end

return M
