-- reasons - what keeps the messages of a tenant from being served now; and what starts use up that are only thought
-- of.
local M = {}

-- Each: kind, the node or pool whose limit it is, how many run and how many may (-1: that is not what is in the
-- way), the interval of a rate, and until when (-1: nobody knows).
function M.of(call, n)
  local found = {}
  local function add(kind, name, running, most, interval, until_)
    found[#found + 1] = {kind, name, running and text.num(running) or '0', text.num(most or -1), text.num(interval or 0),
      text.num(until_ or -1)}
  end
  local own = n.own
  if own.blocked then
    local s = call.settings
    add('gathering', n.path, own.count, s.has_batch and s.batch or nil, nil, own.since + s.linger)
  end
  local function add_limits(prefix, name, l, run, lent_name, lent_rate)
    if run >= l.concurrency or not lent.has_room(call, lent_name, run) then add(prefix .. 'concurrency', name, run, l.concurrency) end
    local token = limits.token_at(l)
    if token > call.now then add(prefix .. 'rate', name, nil, nil, limits.interval(l), token) end
    if not lent.has_room(call, lent_rate, 0) then add(prefix .. 'rate', name, nil, nil, call.lent[lent_rate].interval) end
  end
  seats.each_node(call, n, function(each)
    if each.paused then add('paused', each.path) end
    if each.limited > call.now then add('limited', each.path, nil, nil, nil, each.limited) end
    add_limits('', each.path, each.limits, each.run, each.path == '' and lent.QUEUE or '', each.path == '' and lent.QUEUE_RATE or '')
  end)
  for _, name in ipairs(seats.pools_of(call, n)) do
    local l = pools.of(call, name)
    add_limits('pool_', name, l, l.run, lent.of_pool(name), lent.rate_of_pool(name))
  end
  return found
end

-- Starts that are only thought of, held against what limits leave.
function M.starts() return {} end
local function each_room(call, n, visit)
  seats.each_node(call, n, function(each)
    visit('n' .. each.path, math.min(each.limits.concurrency - each.run, limits.tokens(each.limits, call.now)))
  end)
  for _, name in ipairs(seats.pools_of(call, n)) do
    local l = pools.of(call, name)
    visit('p' .. name, math.min(l.concurrency - l.run, limits.tokens(l, call.now)))
  end
end
-- How many more of this tenant could start now.
function M.left(call, starts, n)
  local left = math.huge
  each_room(call, n, function(name, room) left = math.min(left, math.max(0, room - (starts[name] or 0))) end)
  return left
end
-- One does. False: it cannot, and does not count.
function M.start(call, starts, n)
  if M.left(call, starts, n) == 0 then return false end
  each_room(call, n, function(name) starts[name] = (starts[name] or 0) + 1 end)
  return true
end

return M
