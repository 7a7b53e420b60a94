-- pools - limits that several tenants share. One hash has them all, by name.
local M = {}

local function read_all(call)
  if call.pools then return call.pools end
  call.pools, call.has_pools = {}, false
  if call.has_none then return call.pools end  -- see calls.look
  local all = redis.call('HGETALL', call.tag .. 'p')
  for i = 1, #all, 2 do
    local l = limits.new()
    l.concurrency, l.rate_count, l.rate_span, l.burst, l.credit, l.credit_at, l.run = struct.unpack('<ddddddd', all[i + 1])
    call.pools[all[i]], call.has_pools = l, true
  end
  return call.pools
end

function M.any(call)
  read_all(call)
  return call.has_pools
end
function M.exists(call, name) return name ~= '' and read_all(call)[name] ~= nil end

function M.of(call, name) return read_all(call)[name] end
function M.each(call, visit)
  for name, l in pairs(read_all(call)) do visit(name, l) end
end

function M.has_room(call, name)
  local l = read_all(call)[name]
  return l.run < l.concurrency and lent.has_room(call, lent.of_pool(name), l.run) and
    lent.has_room(call, lent.rate_of_pool(name), 0) and limits.token_at(l) <= call.now
end

function M.started(call, name)
  local l = read_all(call)[name]
  limits.take(l, call.now)
  lent.start(call, lent.rate_of_pool(name))
  l.run, call.pools_changed = l.run + 1, true
end
function M.add_running(call, name, more)
  local l = read_all(call)[name]
  if more < 0 and l.run >= l.concurrency then bell.open(call, '', true) end
  l.run, call.pools_changed = l.run + more, true
end

-- When the next one has a token again that has none now.
function M.due(call)
  if not M.any(call) then return math.huge end
  local due = math.huge
  for _, l in pairs(read_all(call)) do
    local at = limits.token_at(l)
    if at > call.now then due = math.min(due, at) end
  end
  return due
end

-- These there are from now on: values by name. What runs in them is counted anew by whoever calls this.
function M.set(call, rules)
  local before = read_all(call)
  bell.open(call, '', true)
  call.pools, call.has_pools, call.pools_changed = {}, false, true
  for name, values in pairs(rules) do
    local l = before[name] or limits.new()
    limits.set(l, values, call.now)
    call.pools[name], call.has_pools = l, true
  end
  M.count_anew(call)
end
function M.count_anew(call)
  for _, l in pairs(read_all(call)) do l.run, call.pools_changed = 0, true end
end

-- Those in which other numbers run than `running` says, by name.
function M.wrong(call, running)
  local found = {}
  for name, l in pairs(read_all(call)) do
    if l.run ~= (running[name] or 0) then found[#found + 1] = name end
  end
  return found
end

function M.write(call)
  if not call.pools_changed then return end
  redis.call('UNLINK', call.tag .. 'p')
  for name, l in pairs(call.pools) do
    redis.call('HSET', call.tag .. 'p', name, struct.pack('<ddddddd', l.concurrency, l.rate_count, l.rate_span, l.burst,
      l.credit, l.credit_at, l.run))
  end
end

return M
