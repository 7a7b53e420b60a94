-- terms - what holds for nodes of the tree from now on: weights, limits, pools, and what turns are paid by.
local M = {}

-- What runs in pools, after tenants or pools have changed.
local function count_pools(call)
  if not pools.any(call) then return end
  pools.count_anew(call)
  for _, path in ipairs(seats.running(call)) do
    local n = seats.node(call, path)
    for _, name in ipairs(seats.pools_of(call, n)) do pools.add_running(call, name, n.own.run) end
  end
  shares.counted(call)
end
M.count_pools = count_pools
function M.set_pools(call, all)
  pools.set(call, all)
  count_pools(call)
  shares.set_pools(call)
end

-- Another weight holds from the next turn on. A turn that was given by the old one is not later than one by the new
-- one; what was used in bytes or time is owed by the new one.
local function set_weight(call, n, weight)
  local p = seats.node(call, seats.parent_of(n.path))
  local before = n.weight
  n.weight = weight
  if n.seated and p.path == '' then call.weight = call.weight + weight - before end
  local ahead = math.max(0, n.tag - p.vtime)
  if weight == before or ahead == 0 then return end
  local owed = math.min(ahead, math.floor(costs.TURN / weight))
  if call.settings.fair_by ~= costs.TURNS then
    local whole = math.floor(ahead / weight)
    owed = whole * before + math.floor((ahead - whole * weight) * before / weight)
  end
  local tag = p.vtime + owed
  if tag ~= n.tag then seats.reseat(call, n, tag) end
end

-- Turns may be paid by something else: there are not too many tenants for one call. Those of which something is counted, and
-- those who have nothing and stay since they may owe something: until they are looked at, or for as long as something is set
-- of them. Nil: too many.
local TENANTS = 10000
local function all_nodes(call)
  local paths, seen = {}, {}
  for _, list in ipairs({
    redis.call('ZRANGE', call.tag .. 'cn', 0, TENANTS), redis.call('ZRANGE', call.tag .. 'il', 0, TENANTS),
    redis.call('HKEYS', call.tag .. 'ov'),
  }) do
    for _, path in ipairs(list) do
      if not seen[path] then paths[#paths + 1], seen[path] = path, true end
    end
  end
  return #paths <= TENANTS and paths or nil
end
function M.may_set_fair_by(call, fair_by) return fair_by == call.settings.fair_by or all_nodes(call) ~= nil end
-- They are, and nobody is further ahead than one turn.
function M.set_fair_by(call, fair_by)
  if fair_by == call.settings.fair_by then return end
  local seen = {}
  for _, path in ipairs(all_nodes(call)) do
    seats.each_seat(call, seats.node(call, path), function(s, p)
      if seen[s] then return end
      seen[s] = true
      seats.retag(call, s, p, math.max(p.vtime, math.min(s.tag, p.vtime + math.floor(costs.TURN / s.weight))))
      s.expected, s.refund = 0, 0
      s.changed, p.changed = true, true
    end)
  end
  settings.change(call, {fair_by = fair_by})
  tolls.forget(call)
end

local WEIGHT, POOL, PAUSED, LIMITED = 20, 21, 22, 24  -- PolicyKey

local function weight_of(values) return values[WEIGHT] and values[WEIGHT][1] or 1000 end
local function limited_of(values) return values[LIMITED] and values[LIMITED][1] or 0 end
local function pool_of(values) return values[POOL] and values[POOL][3] or '' end

-- What holds for a node from now on: values by key, one that is missing is the usual. True: it is in another pool.
local function set(call, path, values)
  local n = seats.node(call, path)
  if path ~= '' and not n.is_stored and not n.changed and next(values) == nil then return false end  -- as it is anyhow
  n.limits = limits.set(n.limits, values, call.now)
  n.paused = values[PAUSED] ~= nil
  n.limited = limited_of(values)
  local pool = pool_of(values)
  local other_pool = pool ~= n.pool
  n.pool, n.changed = pool, true
  seats.stand(call, n)
  if path ~= '' then set_weight(call, n, weight_of(values)) end
  if path == '' then shares.set_queue(call, values, n.limits) end
  tree.look_again(call, n, call.now)
  return other_pool
end
function M.set_queue(call, values) set(call, '', values) end

local function set_tenant(call, path, values)
  seats.node(call, path).rules = math.abs(call.rules)
  amounts.set(call, path, values, sums.of_tenant)
  return set(call, path, values)
end
function M.set_tenant(call, path, values)
  if set_tenant(call, path, values) then count_pools(call) end
end

-- Those for whom something comes, with all above them, that were not held against these rules: a load tells only those that
-- have messages or of which something is set. Others are new, or have stayed since something was set of them once, or since
-- they still owe something and have nothing below.
function M.meet(call, path)
  local rules_now = math.abs(call.rules)
  if rules_now == 0 then return end
  seats.each_node(call, seats.node(call, path), function(n)
    if n.path == '' or n.rules == rules_now then return end
    set_tenant(call, n.path, rules.of(call, n.path))
    n.changed = true
  end)
end

-- All of these, before anything comes for one. False: there are more new ones than one call holds against rules, and the next
-- one goes on.
function M.meet_all(call, paths)
  for _, path in ipairs(paths) do
    if rules.have_matched_enough(call) then return false end
    M.meet(call, path)
  end
  return true
end

-- These, and all above them, as the rules now have them. False: that cannot be done in one call, and nothing was.
function M.follow(call, paths)
  local values, other_pool = {}, false
  for _, path in ipairs(paths) do
    while path ~= '' and not values[path] do
      values[path] = rules.of(call, path)
      if not amounts.may_set(call, path, values[path]) then return false end
      path = seats.parent_of(path)
    end
  end
  for path, each in pairs(values) do other_pool = set_tenant(call, path, each) or other_pool end
  if other_pool then count_pools(call) end
  return true
end

-- What is said of it now, as far as it follows that already; nil: it does not yet, or that cannot be read.
local function values_of(call, n)
  if n.path == '' then return call.settings.values end
  if n.rules ~= math.abs(call.rules) then return nil end
  local is_read, values = pcall(rules.of, call, n.path)
  return is_read and values or nil
end
-- Whether what holds for it is what is said of it.
function M.is_well(call, n)
  local values = values_of(call, n)
  if not values then return true end
  local wanted = limits.set(limits.new(), values, call.now)
  if n.path == '' and call.step > 1 then limits.take_rate(wanted) end  -- all shards have it together
  return limits.are_same(wanted, n.limits) and (n.paused or false) == (values[PAUSED] ~= nil) and
    n.limited == limited_of(values) and n.pool == pool_of(values) and
    (n.path == '' or (n.weight == weight_of(values) and amounts.are_set(call, n.path, values)))
end
-- It is from now on.
function M.mend(call, n)
  if M.is_well(call, n) then return end
  local values = values_of(call, n)
  n.changed = true
  if n.path == '' then M.set_queue(call, values) elseif amounts.may_set(call, n.path, values) then M.set_tenant(call, n.path, values) end
end

return M
