-- calls - one call of a client: what is read before it and written after it, so that a call that fails has
-- written nothing.
local M = {}
local SCHEMA = '1'
local FIRED = 64       -- timers, in one call
local JUMP = 16777216  -- ids and serials that a restarted server may have forgotten to have given
local GRACE = 15000

local function settings_of(file, set)
  local values = {}
  records.add_policy(values, file or '')
  records.add_policy(values, set or '')
  local order, lease, attempts = values[1], values[7], values[13]
  local dead_retention = values[9]
  return {fifo = order ~= nil and order[1] == 1, lease = lease and lease[1] or 60000,
    attempts = attempts and attempts[1] or 5, dead_retention = dead_retention and dead_retention[1] or math.huge}
end

-- Without effect: what is due is not done yet.
function M.look(keys)
  local root = redis.call('HMGET', keys[1], 'schema', 'now', 'n', 'serial', 'sums', 'file', 'set', 'run', 'grace',
    'waits', 'ended')
  if not root[1] then return nil, redis.error_reply('FQMISSING there is no such queue') end
  if root[1] ~= SCHEMA then return nil, redis.error_reply('FQSCHEMA ' .. root[1] .. ' ' .. SCHEMA) end
  local before = tonumber(root[2])
  local call = {root = keys[1], tag = string.sub(keys[1], 1, -2), n = tonumber(root[3]), serial = tonumber(root[4]),
    sums = records.sums(root[5]), settings = settings_of(root[6], root[7]), run = root[8], before = before,
    grace = tonumber(root[9] or 0), waits = tonumber(root[10] or 0), nodes = {}, rings = {}, queues = {},
    messages = {}, outcomes = {}, outcome_of = {}, uniques = {}, waiters = {}, events = {}, ended = {},
    is_ended = {}}
  ends.read(call, root[11] or '')
  call.now = math.max(before, time.read(keys[1]))
  return call
end

-- Ids and serials of a server that was started anew, or that took over, begin behind all that may have been
-- given and were lost; and no lease is over before its holder could say that it is not.
local function follow_server(call, run)
  if call.run == run then return end
  if call.run then
    local jump = math.max(JUMP, 64 * (call.now - call.before))
    call.n, call.serial, call.grace = call.n + jump, call.serial + jump, call.now + GRACE
  end
  call.run, call.other_run = run, true
end

-- When something is to be done.
function M.due(call)
  if #call.ended > 0 then return 0 end
  local timer, grave = view.first(messages.timers(call)), view.first(messages.graves(call))
  return math.min(timer and timer[1] or math.huge, grave and grave[1] + call.settings.dead_retention or math.huge)
end

-- What is due is done, at most so much; call.more: not all of it.
function M.begin(keys, run)
  local call, fault = M.look(keys)
  if not call then return nil, fault end
  follow_server(call, run)
  for fired = 0, FIRED do
    local first = view.first(messages.timers(call))
    if not first or first[1] > call.now then break end
    if fired == FIRED then
      call.more = true
    else
      messages.fire(call, first[1], first[2])
    end
  end
  if not call.more then
    after.settle(call)
    messages.forget_dead(call, FIRED)
    after.settle(call)
    call.more = M.due(call) <= call.now
  end
  return call
end

-- The head of each reply: now, when the next timer is due (-1: none), whether more are due now, and the queue's
-- attempts.
function M.head(call)
  local due = M.due(call)
  return {call.now, due < math.huge and due or -1, call.more and 1 or 0, call.settings.attempts}
end

function M.finish(call)
  after.settle(call)
  store.write(call)
  messages.write(call)
  uniques.write(call)
  waits.write(call)
  events.write(call)
  tree.write(call)
  local root = {'now', text.num(call.now), 'n', text.num(call.n), 'serial', text.num(call.serial), 'sums',
    records.sums_bytes(call.sums), 'waits', text.num(call.waits), 'ended', ends.bytes(call)}
  if call.other_run then
    for _, each in ipairs({'run', call.run, 'grace', text.num(call.grace)}) do root[#root + 1] = each end
  end
  redis.call('HSET', call.root, unpack(root))
end

return M
