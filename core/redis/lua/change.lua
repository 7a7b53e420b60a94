-- change - cancels and kicks by id, and what is set. args: run, what, and what that takes.
local M = {}

local function each(call, args, change)
  local answers = {}
  for at = 3, #args do
    local id = tonumber(args[at])
    local m = store.find(call, id)
    answers[#answers + 1] = m and change(call, m) or 'gone'
    after.settle(call)
  end
  return answers
end

local function cancel(call, m)
  messages.cancel(call, m)
  return 'ok'
end

local function kick(call, m)
  if m.state ~= records.DEAD and m.state ~= records.DELAYED then return 'stale' end
  after.kick(call, m)
  return 'ok'
end

local CHANGES = {
  cancel = function(call, args) return each(call, args, cancel) end,
  kick = function(call, args) return each(call, args, kick) end,
  -- The layer of the policy file, whose identity and text is kept.
  file = function(call, args)
    redis.call('HSET', call.root, 'file', args[3], 'identity', args[4])
    if args[5] then redis.call('HSET', call.root, 'text', args[5]) end
    return {}
  end,
  -- What is set at run time of the queue, and what is so no more.
  set = function(call, args)
    local values = {}
    records.add_policy(values, redis.call('HGET', call.root, 'set') or '')
    records.add_policy(values, args[3])
    for i = 1, #args[4] do values[string.byte(args[4], i)] = nil end
    redis.call('HSET', call.root, 'set', records.policy_bytes(values))
    return {}
  end,
  weight = function(call, args)
    tree.set_weight(call, args[3], tonumber(args[4]))
    return {}
  end,
}

function M.run(keys, args)
  local call, fault = calls.begin(keys, args[1])
  if not call then return fault end
  local answers = {}
  if not call.more then answers = CHANGES[args[2]](call, args) end
  local head = calls.head(call)
  calls.finish(call)
  return {head, answers}
end

return M
