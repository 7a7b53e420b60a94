-- sums - what is counted: of the queue, of each tenant's own messages, and how often a second lately.
local M = {}
local SECONDS = 900  -- of which it is known how much happened in each
local RATES = {pushed = 1, popped = 2, acked = 3}
local COUNTS = '<dddd'
local COUNTS_BYTES = 32  -- what is shorter is damaged, and counts for nothing
local HALF_MS = 30000
local LATELY = '<dd'  -- what a tenant was given, as of the last of those half minutes in which it was given something

local function of_tenant(call, path)
  local tenant = call.tenant_sums[path]
  if not tenant then
    local bytes = redis.call('GET', call.tag .. 'c:' .. path)
    tenant = records.sums(bytes or nil)
    if not bytes then tenant.is_new = true end
    call.tenant_sums[path] = tenant
  end
  return tenant
end

-- One or so many more of what happens to messages of this tenant, or of what they are.
function M.count(call, path, what, by)
  by = by or 1
  local all, tenant, rate = call.sums, call.tenant_sums[path] or of_tenant(call, path), RATES[what]
  all[what] = all[what] + by
  tenant[what] = tenant[what] + by
  tenant.changed = true
  if call.limited > 0 then amounts.count(call, path, what, by) end
  if rate then call.lately[rate] = call.lately[rate] + by end
end

-- What a tenant was given lately, in what turns are paid by, to be held against what it is entitled to. Half of it is
-- forgotten every half minute, for all tenants at the same times, so that what is compared was halved alike.
function M.served(call, tenant)
  local served, at = struct.unpack(LATELY, tenant.lately)
  return served / 2 ^ math.max(0, math.floor(call.now / HALF_MS) - at)
end
function M.serve(call, path, amount)
  if amount == 0 then return end
  local tenant = of_tenant(call, path)
  tenant.changed = true
  tenant.lately = struct.pack(LATELY, M.served(call, tenant) + amount, math.floor(call.now / HALF_MS))
end

-- A message of it waited, or ran, so long.
function M.took(call, path, kind, ms)
  ms = math.max(0, math.floor(ms))
  histograms.note(call, kind, ms)
  local tenant = of_tenant(call, path)
  tenant.changed = true
  recent_times.note(tenant, kind, ms)
end

-- Of the last 1, 5 and 15 minutes each: pushed, popped, acked.
function M.rates(call)
  local found, now = {0, 0, 0, 0, 0, 0, 0, 0, 0}, math.floor(call.now / 1000)
  local all = redis.call('HVALS', call.tag .. 'rt')
  for _, bytes in ipairs(all) do
    local second, counts = -math.huge, {}
    if #bytes == COUNTS_BYTES then second, counts = struct.unpack('<d', bytes), {struct.unpack('<ddd', bytes, 9)} end
    for i, minutes in ipairs({1, 5, 15}) do
      for k = 1, 3 do
        if now - second < 60 * minutes then found[3 * i - 3 + k] = found[3 * i - 3 + k] + counts[k] end
      end
    end
  end
  for i, n in ipairs(found) do found[i] = text.num(n) end
  return found
end

local function write_rates(call)
  local now = math.floor(call.now / 1000)
  local field = now % SECONDS
  local lately = call.lately
  if lately[1] + lately[2] + lately[3] == 0 then return end
  local bytes = redis.call('HGET', call.tag .. 'rt', field)
  if bytes and #bytes == COUNTS_BYTES and struct.unpack('<d', bytes) == now then
    local _, pushed, popped, acked = struct.unpack(COUNTS, bytes)
    lately = {lately[1] + pushed, lately[2] + popped, lately[3] + acked}
  end
  redis.call('HSET', call.tag .. 'rt', field, struct.pack(COUNTS, now, lately[1], lately[2], lately[3]))
end

M.of_tenant = of_tenant

function M.write(call)
  local names, last = {}, 0
  for path, each in pairs(call.tenant_sums) do
    if each.changed then store.set(call, 'c:' .. path, records.tenant_sums_bytes(each)) end
    if each.changed and each.is_new then
      names[last + 1], names[last + 2] = '0', path
      last = last + 2
    end
  end
  text.call('ZADD', call.tag .. 'cn', names)
  write_rates(call)
end

return M
