-- reasons - what keeps the messages of a tenant from being served now; and how many of them it lets start.
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

-- How many more of this tenant could start now, if none ends and no time passes: as far as one of its nodes says, what also
-- counts starts of others (the root, and its pools), and all of them.
local function left_of(call, l, run) return math.max(0, math.min(l.concurrency - run, limits.tokens(l, call.now))) end
function M.left_at(call, node) return left_of(call, node.limits, node.run) end
function M.left_shared(call, n)
  local left = M.left_at(call, seats.node(call, ''))
  for _, name in ipairs(seats.pools_of(call, n)) do
    local l = pools.of(call, name)
    left = math.min(left, left_of(call, l, l.run))
  end
  return left
end
function M.left(call, n)
  local left = M.left_shared(call, n)
  seats.each_node(call, n, function(each) left = math.min(left, M.left_at(call, each)) end)
  return left
end

return M
