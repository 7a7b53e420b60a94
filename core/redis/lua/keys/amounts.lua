-- amounts - how much tenants may hold: messages that have not ended and are not dead, and bytes of their payloads.
--
-- A hash has those tenants that are limited so (-1: not), with what they and all below them hold. What the whole
-- queue holds is counted anyhow.
local M = {}
local MESSAGES, BYTES = 15, 16  -- PolicyKey
local AMOUNT = '<dddd'
local IS_HELD = {ready = true, delayed = true, leased = true, held = true}

local function messages_of(sums) return sums.ready + sums.delayed + sums.leased + sums.held end

-- Of a path, or nil where it is not limited.
local function at(call, path)
  local a = call.amounts[path]
  if a == nil then
    local bytes = redis.call('HGET', call.tag .. 'am', path)
    a = false
    if bytes then
      a = {}
      a.messages_max, a.bytes_max, a.messages, a.bytes = struct.unpack(AMOUNT, bytes)
      a.had_messages, a.had_bytes = a.messages, a.bytes
    end
    call.amounts[path] = a
  end
  return a or nil
end

-- One or so many more of a tenant's are so.
function M.count(call, path, what, by)
  if call.limited == 0 or not (what == 'bytes' or IS_HELD[what]) then return end
  local field = what == 'bytes' and 'bytes' or 'messages'
  while path ~= '' do
    local a = at(call, path)
    if a then a[field], a.changed = a[field] + by, true end
    path = string.match(path, '^(.*)/[^/]*$') or ''
  end
end

-- What holds for the whole queue.
local function of_queue(call)
  local values = call.settings.values
  local function most(key) return values[key] and values[key][1] or -1 end
  return {messages_max = most(MESSAGES), bytes_max = most(BYTES), messages = messages_of(call.sums), bytes = call.sums.bytes,
    had_messages = messages_of(call.had), had_bytes = call.had.bytes}
end

-- What grew in this call above what it may be: who, 'messages' or 'bytes', how much there was, and the limit; or nil.
-- Where what came is more than the limit by itself: how much that is, and that it never fits.
-- `path`: of a tenant for which something came.
function M.refusal(call, path)
  local function excess(who, a)
    local messages, bytes = a.messages - a.had_messages, a.bytes - a.had_bytes
    local function found(what, came, had, most)
      local never = came > most
      return {who, what, text.num(never and came or had), text.num(most), never}
    end
    if a.messages_max >= 0 and messages > 0 and a.messages > a.messages_max then
      return found('messages', messages, a.had_messages, a.messages_max)
    end
    if a.bytes_max >= 0 and (messages > 0 or bytes > 0) and a.bytes > a.bytes_max then
      return found('bytes', bytes, a.had_bytes, a.bytes_max)
    end
  end
  local found = excess('', of_queue(call))
  while not found and call.limited > 0 and path ~= '' do
    local a = at(call, path)
    found = a and excess(path, a) or nil
    path = string.match(path, '^(.*)/[^/]*$') or ''
  end
  return found
end
-- The same as a reply.
function M.fault(refusal)
  return redis.error_reply((refusal[5] and 'FQNEVER ' or 'FQFULL ') .. refusal[2] .. ' ' .. refusal[3] .. ' ' .. refusal[4] .. ' ' .. refusal[1])
end

-- What timers did before counts as there.
function M.begin(call)
  call.had = {}
  for name, value in pairs(call.sums) do call.had[name] = value end
  for _, a in pairs(call.amounts) do
    if a then a.had_messages, a.had_bytes = a.messages, a.bytes end
  end
end

-- Whether all that it and those below it hold can be summed in one call.
local TENANTS = 10000
local function below(call, path)
  local first, last = '[' .. path .. '/', '(' .. path .. '0'  -- '0' is the byte behind '/'
  local found = redis.call('ZRANGEBYLEX', call.tag .. 'cn', first, last, 'LIMIT', 0, TENANTS + 1)
  found[#found + 1] = path
  return found
end
function M.may_set(call, path, values)
  if values[MESSAGES] == nil and values[BYTES] == nil then return true end
  return at(call, path) ~= nil or #below(call, path) <= TENANTS
end

local function held_below(call, path, of_tenant)
  local held = {messages = 0, bytes = 0}
  for _, each in ipairs(below(call, path)) do
    local one = of_tenant(call, each)
    held.messages, held.bytes = held.messages + messages_of(one), held.bytes + one.bytes
  end
  return held
end

-- Those for which other sums are kept than their tenants have. Those with too many below them are not looked at.
function M.wrong(call, of_tenant)
  local found = {}
  for _, path in ipairs(redis.call('HKEYS', call.tag .. 'am')) do
    local a = at(call, path)
    local held = #below(call, path) <= TENANTS and held_below(call, path, of_tenant) or a
    if a.messages ~= held.messages or a.bytes ~= held.bytes then found[#found + 1] = path end
  end
  return found
end

-- They are kept as their tenants have them.
function M.mend(call, of_tenant)
  local found = M.wrong(call, of_tenant)
  for _, path in ipairs(found) do
    local a, held = at(call, path), held_below(call, path, of_tenant)
    a.messages, a.bytes, a.changed = held.messages, held.bytes, true
  end
  return found
end

-- What holds for a tenant from now on: values by key. `of_tenant`: what is counted of one.
function M.set(call, path, values, of_tenant)
  local most, bytes_most = values[MESSAGES], values[BYTES]
  local a = at(call, path)
  if not most and not bytes_most then
    if a then
      call.amounts[path], call.limited = false, call.limited - 1
      call.unlimited[#call.unlimited + 1] = path
    end
    return
  end
  if not a then
    a = held_below(call, path, of_tenant)
    a.had_messages, a.had_bytes = a.messages, a.bytes
    call.amounts[path], call.limited = a, call.limited + 1
  end
  a.messages_max, a.bytes_max, a.changed = most and most[1] or -1, bytes_most and bytes_most[1] or -1, true
end

function M.write(call)
  for _, path in ipairs(call.unlimited) do redis.call('HDEL', call.tag .. 'am', path) end
  for path, a in pairs(call.amounts) do
    if a and a.changed then
      redis.call('HSET', call.tag .. 'am', path, struct.pack(AMOUNT, a.messages_max, a.bytes_max, a.messages, a.bytes))
    end
  end
end

return M
