-- look - shows and changes nothing. args: what, and what that takes. reply: head, then what was found.
local M = {}

local function shown(call, id)
  local name = text.num(id)
  local record = redis.call('GET', call.tag .. 'm:' .. name)
  local keys = {call.tag .. 'f:' .. name, call.tag .. 'a:' .. name, call.tag .. 'g:' .. name}
  local more = record and redis.call('MGET', unpack(keys)) or {false, false, false}
  return {name, record, more[1], more[2], more[3]}
end

local function with_holder(call, id)
  local found = shown(call, id)
  local m = found[2] and records.message(id, found[2])
  found[6], found[7], found[8] = false, sessions.host_of(call, m), sessions.is_left_behind(call, m) and 1 or 0
  return found
end

-- Adds the ids of ready ones of a queue, until there are so many.
local function add_ready(call, path, found, most)
  for _, member in ipairs(redis.call('ZRANGE', call.tag .. 'q:' .. path, 0, most - #found - 1)) do
    found[#found + 1] = text.num(queues.id_of(member))
  end
end

-- Of a list that is in order by name so many behind one, as `told_of` tells of each. args: from, n.
local function paged(call, list, args, told_of)
  local found, first = {}, args[2] == '' and '-' or '(' .. args[2]
  for i, path in ipairs(redis.call('ZRANGEBYLEX', call.tag .. list, first, '+', 'LIMIT', 0, tonumber(args[3]))) do
    found[i] = told_of(path)
  end
  return found
end

local LOOKS = {
  -- id: its record, or how it ended; the host of who holds it, and whether that is dead.
  get = function(call, args)
    local found = with_holder(call, tonumber(args[2]))
    found[6] = redis.call('HGET', call.tag .. 'o', found[1])
    return found
  end,
  -- id: what is shown of it, its steps, their outputs.
  export = function(call, args)
    local found = shown(call, tonumber(args[2]))
    found[6] = redis.call('HGETALL', call.tag .. 'st:' .. found[1])
    found[7] = redis.call('HGETALL', call.tag .. 'so:' .. found[1])
    return found
  end,
  -- ids: their records.
  records = function(call, args)
    local found = {}
    for i = 2, #args do found[i - 1] = redis.call('GET', call.tag .. 'm:' .. args[i]) end
    return found
  end,
  -- ids: what is shown of each.
  show = function(call, args)
    local found = {}
    for i = 2, #args do found[i - 1] = shown(call, tonumber(args[i])) end
    return found
  end,
  -- tenant, n: ids of the ready ones in the order of their turns, then of those that have none now, by tenant; at
  -- most so many.
  order = function(call, args)
    local top, most, found = args[2], tonumber(args[3]), {}
    while #found < most do
      local node, m = lost.next_turn(call, top)
      if not node then break end
      messages.pass_over(call, m, node, top)
      found[#found + 1] = text.num(m.id)
    end
    if #found == most then return found end
    call = calls.look({call.root})  -- as it was
    for _, path in ipairs(seats.tenants(call, top)) do
      if #found == most then break end
      if pick.is_blocked(call, seats.node(call, path), true) then add_ready(call, path, found, most) end
    end
    return found
  end,
  -- Which ('t': delayed and leased, 'lv': leased by living, 'd': dead, 'hd': held), from when and behind which id, n: by time, then by id. Of
  -- each its time and what is shown of it.
  timed = function(call, args)
    local found = {}
    local show = args[2] == 'lv' and with_holder or shown
    for i, each in ipairs(pages.behind(call.tag .. args[2], args[3], tonumber(args[4]), tonumber(args[5]))) do
      found[i] = {each[1], show(call, each[2])}
    end
    return found
  end,
  -- Which, before when and which id, n: those that are dead, or told of after their end, the newest first; of each
  -- its time and what is shown of it.
  told = function(call, args)
    local found = {}
    for i, each in ipairs(told.page(call, args[2], args[3], tonumber(args[4]), tonumber(args[5]))) do
      found[i] = {text.num(each[1]), shown(call, each[2])}
    end
    return found
  end,
  -- ids: of each 0 where it has not ended, else how it has: acked, cancelled, dead, or 1: nobody knows, or it was moved.
  ended = function(call, args)
    local found, ends = {}, {acked = 2, cancelled = 3, [records.DEAD] = 4}
    for i = 2, #args do
      local state = store.state(call, tonumber(args[i]))
      local is_over = (state == nil or store.has_ended(state)) and not store.is_leaving(call, tonumber(args[i]))
      found[#found + 1] = not is_over and 0 or state == nil and 1 or ends[state]
    end
    return found
  end,
  idle = function(call) return {awaited.is_idle(call) and 1 or 0} end,
  -- id, delivery, channel: whether its caller is waited for, and what that has not read.
  run_state = function(call, args) return runs.state(call.tag, runs.name_of(args[2], args[3]), args[4]) end,
  -- id, delivery, places and ends of each channel.
  run_read = function(call, args)
    return runs.read(call.tag, runs.name_of(args[2], args[3]), {tonumber(args[4]), tonumber(args[5])},
      {tonumber(args[6]), tonumber(args[7])})
  end,
  -- id, delivery: the next run behind that; whether the message has ended or is in another queue, whether it is still told
  -- of, and how often it was delivered.
  follow = function(call, args)
    local id = tonumber(args[2])
    local found = runs.next(call.tag, args[2], args[3])
    local state = store.state(call, id)
    found[4] = (state == nil or store.has_ended(state)) and not store.is_leaving(call, id) and 1 or 0
    local m = records.message(id, redis.call('GETRANGE', call.tag .. 'm:' .. args[2], '0', records.HEAD_AND_NAMES_END))
    found[5] = not m and not store.has_moved(call, id) and 0 or 1
    found[6] = m and m.deliveries or 0
    return found
  end,
  -- id: whether there is such a message, then its steps.
  steps = function(call, args) return steps.list(call, args[2]) end,
  -- name; behind a name so many; those that are due: names and records.
  schedule = function(call, args) return schedules.get(call, args[2]) end,
  schedules = function(call, args) return schedules.page(call, args[2], tonumber(args[3])) end,
  schedules_due = function(call) return schedules.all_due(call) end,
  output = function(call, args) return {outputs.read(call, tonumber(args[2]))} end,
  sessions = function(call) return sessions.all(call) end,
  anybody = function(call)
    local pid, host = sessions.anybody(call.root)
    return {pid or -1, host}
  end,
  -- from: a page of events.
  events = function(call, args) return events.read(call, args[2]) end,
  select = selection.run,
  tagged = selection.tagged,
  explain = explain.message,
  explain_tenant = explain.tenant,
  explain_next = explain.next,
  stuck = explain.stuck,
  running = explain.running,
  rivals = explain.rivals,
  check_messages = check.messages,
  check_index = check.index,
  check_nodes = check.nodes,
  check_limits = check.limits,
  check_purses = check.purses,
  sums = function(call) return {records.sums_bytes(call.sums), text.num(call.ops), sums.rates(call),
    seats.node(call, '').paused and 1 or 0, call.settings.is_draining and 1 or 0, redis.call('ZCARD', call.tag .. 'cn'),
    redis.call('ZCARD', call.tag .. 'tn'), schedules.count(call), call.settings.fair_by} end,
  histograms = function(call) return histograms.all(call) end,
  -- from, n: of those that something is counted of so many behind one, by name: paths, and what is counted.
  tenants = function(call, args)
    return paged(call, 'cn', args, function(path) return {path, records.sums_bytes(sums.of_tenant(call, path))} end)
  end,
  -- Beside that how they stand, and their weights in thousandths.
  tenant_rows = function(call, args)
    return paged(call, 'cn', args, function(path)
      local n, counted = seats.node(call, path), sums.of_tenant(call, path)
      return {path, standing.of(call, n), records.tenant_sums_bytes(counted), n.weight}
    end)
  end,
  -- Of those with something ready: paths, and how they stand.
  active_tenants = function(call, args)
    return paged(call, 'tn', args, function(path) return {path, standing.of(call, seats.node(call, path))} end)
  end,
  policy = function(call) return redis.call('HMGET', call.root, 'file', 'set', 'identity') end,
  -- name: of a limit over shards, see purse.lua.
  purse = purse.look,
  -- from: what was set at run time: of the queue, then a page of tenants, see rules.lua, and where the next one begins.
  overrides = function(call, args) return {redis.call('HGET', call.root, 'set'), rules.overrides(call, args[2])} end,
}

-- What nothing that is due changes, and each command asks for: it waits for nothing.
local TIMELESS = {policy = true}

-- 'as_lent', how many, names of limits over shards of which nobody has anything: what comes behind is asked as if this shard
-- had been lent what it lacks of all others.
local function foresee(call, args)
  if args[1] ~= 'as_lent' then return args end
  local rest, count = {}, tonumber(args[2])
  call.foreseen = {}
  for i = 3, #args do
    if i <= count + 2 then call.foreseen[args[i]] = true else rest[#rest + 1] = args[i] end
  end
  return rest
end

function M.run(keys, args)
  local call, fault = calls.look(keys)
  if not call then return fault end
  args = foresee(call, args)
  call.more = not TIMELESS[args[1]] and (calls.has_more(call) or pace.wants_call(call))
  local head = calls.head(call)
  return {head, LOOKS[args[1]](call, args)}
end

return M
