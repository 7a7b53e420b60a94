-- look - shows and changes nothing. args: what, and what that takes. reply: head, then what was found.
local M = {}

local function shown(call, id)
  local name = text.num(id)
  local record = redis.call('GET', call.tag .. 'm:' .. name)
  local keys = {call.tag .. 'f:' .. name, call.tag .. 'a:' .. name, call.tag .. 'g:' .. name}
  local more = record and redis.call('MGET', unpack(keys)) or {false, false, false}
  return {name, record, more[1], more[2], more[3]}
end

local function of_zset(call, key, from, n)
  local found = {}
  for _, member in ipairs(redis.call('ZRANGE', call.tag .. key, from, from + n - 1)) do
    found[#found + 1] = shown(call, (struct.unpack('>I8', member)))
  end
  return found
end

local LOOKS = {
  -- id: its record, or how it ended.
  get = function(call, args)
    local found = shown(call, tonumber(args[2]))
    found[6] = redis.call('HGET', call.tag .. 'o', found[1])
    return found
  end,
  -- ids: their records.
  records = function(call, args)
    local found = {}
    for i = 2, #args do found[i - 1] = redis.call('GET', call.tag .. 'm:' .. args[i]) end
    return found
  end,
  -- tenant, from, n: the ready ones in the order of their turns.
  ready = function(call, args)
    local from, n, found = tonumber(args[3]), tonumber(args[4]), {}
    for turn = 1, from + n do
      local node = tree.next(call, args[2])
      if not node then break end
      local m = messages.first_of(call, node)
      messages.pass_over(call, m, node, args[2])
      if turn > from then found[#found + 1] = shown(call, m.id) end
    end
    return found
  end,
  -- tenant, from, n: the ready ones that have no turns, by tenant.
  blocked = function(call, args)
    local left, n, found = tonumber(args[3]), tonumber(args[4]), {}
    for _, path in ipairs(tree.tenants(call, args[2])) do
      local node = tree.node(call, path)
      if tree.is_blocked(call, node, true) then
        local there = node.own.count
        if left < there and #found < n then
          local key = call.tag .. 'q:' .. path
          for _, member in ipairs(redis.call('ZRANGE', key, left, left + n - #found - 1)) do
            found[#found + 1] = shown(call, (struct.unpack('>I8', member, #member - 7)))
          end
        end
        left = math.max(0, left - there)
      end
    end
    return found
  end,
  -- from, n: the delayed and leased ones by time; the dead ones by the time of their death.
  timed = function(call, args) return of_zset(call, 't', tonumber(args[2]), tonumber(args[3])) end,
  dead = function(call, args) return of_zset(call, 'd', tonumber(args[2]), tonumber(args[3])) end,
  held = function(call, args) return of_zset(call, 'hd', tonumber(args[2]), tonumber(args[3])) end,
  -- Which, before when and which id, n: those that are dead, or told of after their end, the newest first; of each
  -- its time and what is shown of it.
  told = function(call, args)
    local found = {}
    for i, each in ipairs(told.page(call, args[2], args[3], tonumber(args[4]), tonumber(args[5]))) do
      found[i] = {text.num(each[1]), shown(call, each[2])}
    end
    return found
  end,
  -- ids: of each whether it has ended, or nobody knows of it.
  ended = function(call, args)
    local found = {}
    for i = 2, #args do
      local state = store.state(call, tonumber(args[i]))
      found[#found + 1] = (state == nil or store.has_ended(state)) and 1 or 0
    end
    return found
  end,
  idle = function(call) return {call.sums.ready + call.sums.leased + call.sums.returning == 0 and 1 or 0} end,
  output = function(call, args) return {outputs.read(call, tonumber(args[2]))} end,
  sessions = function(call) return sessions.all(call) end,
  -- from: a page of events.
  events = function(call, args) return events.read(call, args[2]) end,
  select = selection.run,
  check_messages = check.messages,
  check_nodes = check.nodes,
  sums = function(call) return {records.sums_bytes(call.sums), text.num(call.ops), sums.rates(call),
    tree.node(call, '').paused and 1 or 0, call.settings.is_draining and 1 or 0, redis.call('ZCARD', call.tag .. 'cn'),
    redis.call('ZCARD', call.tag .. 'tn')} end,
  -- from, n: of those with something ready so many behind one: the last that was looked at, and how many are parked.
  parked = function(call, args)
    local first, last, parked = args[2] == '' and '-' or '(' .. args[2], '', 0
    for _, path in ipairs(redis.call('ZRANGEBYLEX', call.tag .. 'tn', first, '+', 'LIMIT', 0, tonumber(args[3]))) do
      last = path
      if tree.is_blocked(call, tree.node(call, path), true) then parked = parked + 1 end
    end
    return {last, parked}
  end,
  tenants = function(call, args) return sums.tenants(call, args[2], tonumber(args[3])) end,
  policy = function(call) return redis.call('HMGET', call.root, 'file', 'set', 'identity', 'text') end,
  -- What was set at run time: of the queue, then of each tenant path and values.
  overrides = function(call)
    return {redis.call('HGET', call.root, 'set'), redis.call('HGETALL', call.tag .. 'ov')}
  end,
}

function M.run(keys, args)
  local call, fault = calls.look(keys)
  if not call then return fault end
  call.more = calls.has_more(call)
  local head = calls.head(call)
  return {head, LOOKS[args[1]](call, args)}
end

return M
