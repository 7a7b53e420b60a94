-- standing - how tenants stand beside each other: what each is entitled to, what it was given lately, and how long it waits.
local M = {}
local PART = 256  -- of what is told, so that halves are
local RETURNED_MOST = 16  -- at the front of a line, that are looked at where they came back

-- Its weight at each level of its path, from its own messages on, up to below the root; 0: nothing sits there. So what it
-- is entitled to is known once those of all tenants are. Where its pool is full, nothing.
local function weights_of(call, n, is_full)
  local weights = {}
  if not n.own.seated or is_full then return weights end
  seats.each_seat(call, n, function(s)
    -- Beside nobody: all of what its node has.
    if s.own or n.kids > 0 then weights[#weights + 1] = s.seated and s.weight or 0 end
  end)
  return weights
end

-- Since when something of it has been ready: of the one that is next, and where that was handed out before and came back,
-- also of those behind it, up to the first that was not.
local function waits_since(call, n)
  local line = queues.of(call, n.path)
  local first = view.first(line)
  local m = first and store.find(call, queues.id_of(first[2]))
  local since, seen = m and m.since or -1, 0
  if not m or m.deliveries == 0 then return since end
  for entry in view.each(line) do
    m = store.find(call, queues.id_of(entry[2]))
    if m then since = math.min(since, m.since) end
    seen = seen + 1
    if seen == RETURNED_MOST or m and m.deliveries == 0 then break end
  end
  return since
end

-- What is in its way; its weights; what it was given; since when it waits (-1: it does not).
function M.of(call, n)
  local kinds, is_full = {}, false
  for i, reason in ipairs(reasons.of(call, n)) do
    kinds[i] = reason[1]
    is_full = is_full or string.sub(reason[1], 1, 5) == 'pool_'
  end
  local since = n.own.count > 0 and waits_since(call, n) or -1
  return {kinds, weights_of(call, n, is_full), text.num(PART * sums.served(call, sums.of_tenant(call, n.path))),
    text.num(since)}
end

return M
