-- bells - who waits for something to take, and is told when it comes about.
--
-- A client that found nothing is noted (bw; bf: it wants of one tenant only, bt has those by tenant) in the call in which it
-- found that, and hears of the next thing that it could take on a channel of its own session. Each bell is for one client
-- and strikes it out, so that one message wakes one of a thousand. The score is when its time comes: it looks then without a
-- bell. One that does so is enough; for the others it is infinite. The root says how many there are: while that is nobody, no
-- call pays for them.
--
-- A bell may be lost, with the client that it was for: then the others look as late as their own patience says. One that was
-- killed stays noted: a few are looked at now and then, and those that hear nothing are struck out.
local M = {}
local NONCE_BYTES = text.NONCE_BYTES
local PATHS = 1024       -- of one command
local FILTERED_MOST = 64  -- looked at by one call that opens many tenants: the others are as if their bells were lost

local function keys_of(call) return {call.tag .. 'bw', call.tag .. 'bf'} end

-- call.taker: of a lease, what was wanted and how many were taken; nil: this is another call.
local function listens(call) return call.taker and call.taker.listens end
local function taken(call) return call.taker and call.taker.taken or 0 end

function M.are_heard(call) return call.opened or listens(call) end

-- Of one tenant their nonces, one behind the other.
local function noted_for(call, tenant) return redis.call('HGET', call.tag .. 'bt', tenant) or '' end
local function set_noted_for(call, tenant, nonces)
  if nonces == '' then return redis.call('HDEL', call.tag .. 'bt', tenant) end
  redis.call('HSET', call.tag .. 'bt', tenant, nonces)
end
local function without(nonces, nonce)
  local kept = {}
  for at = 1, #nonces, NONCE_BYTES do
    local each = string.sub(nonces, at, at + NONCE_BYTES - 1)
    if each ~= nonce then kept[#kept + 1] = each end
  end
  return table.concat(kept)
end
local function strike_out(call, nonce, tenant)
  if tenant == '' then return redis.call('ZREM', call.tag .. 'bw', nonce) end
  redis.call('ZREM', call.tag .. 'bf', nonce .. tenant)
  set_noted_for(call, tenant, without(noted_for(call, tenant), nonce))
end
M.strike_out = strike_out

local function is_any_above(tops, path)
  for _, top in ipairs(tops) do
    if text.is_at_or_below(path, top) then return true end
  end
  return false
end

-- Tenants for which somebody waits and of which something was opened, or of one below them.
local function opened_tenants(call)
  local found, seen, paths, tops = {}, {}, {}, {}
  for path, is_some_below in pairs(call.opened_paths) do
    if is_some_below then tops[#tops + 1] = path end
    while path ~= '' and not seen[path] do
      seen[path] = true
      paths[#paths + 1] = path
      path = string.match(path, '^(.*)/[^/]*$') or ''
    end
  end
  for from = 1, #paths, PATHS do
    local noted = redis.call('HMGET', call.tag .. 'bt', unpack(paths, from, math.min(from + PATHS - 1, #paths)))
    for i, nonces in ipairs(noted) do
      if nonces then found[#found + 1] = paths[from + i - 1] end
    end
  end
  if #tops == 0 then return found end
  for _, member in ipairs(redis.call('ZRANGE', call.tag .. 'bf', 0, FILTERED_MOST - 1)) do
    local tenant = string.sub(member, NONCE_BYTES + 1)
    if not seen[tenant] and is_any_above(tops, tenant) then seen[tenant], found[#found + 1] = true, tenant end
  end
  return found
end

-- Before anything is written, which moves what is read: who is to hear of it. `due`: when time changes something next.
function M.prepare(call, due)
  call.next_due, call.to_ring, call.filtered = due, 0, {}
  if not call.opened then return end
  local count = call.opened - taken(call)
  -- It came since its bell rang, or would have: what it leaves is for the next one.
  local hands_on = call.taker and (call.taker.rung or (listens(call) and taken(call) > 0))
  if hands_on then
    count = math.max(count, 1)
    if call.taker.tenant ~= '' then call.opened_paths[call.taker.tenant] = true end
  end
  if count <= 0 or not pick.any(call, '') then return end
  call.to_ring = count
  if redis.call('EXISTS', call.tag .. 'bt') == 1 then
    for _, tenant in ipairs(opened_tenants(call)) do
      if pick.any(call, tenant) then call.filtered[#call.filtered + 1] = tenant end
    end
  end
end

-- Those whose own time comes last are the first: the others have something else to do.
local function ring(call, count)
  local key = call.tag .. 'bw'
  while count > 0 do
    local page = redis.call('ZRANGE', key, -count, -1)
    if #page == 0 then return end
    text.call('ZREM', key, page)
    for _, nonce in ipairs(page) do
      if bell.ring(call, nonce) then count = count - 1 end
    end
  end
end

-- Of each tenant the first that came.
local function ring_filtered(call, count)
  for _, tenant in ipairs(call.filtered) do
    local left = count
    for nonce in string.gmatch(noted_for(call, tenant), string.rep('.', NONCE_BYTES)) do
      if left == 0 then break end
      strike_out(call, nonce, tenant)
      if bell.ring(call, nonce) then left = left - 1 end
    end
  end
end

-- When the first of them looks by itself. One whose time has come is about to, and keeps no time from then on; it stays
-- noted, for where it looks at many shards it does not call this one.
local function keeper(call)
  local best, best_member, best_key = math.huge, nil, nil
  for _, key in ipairs(keys_of(call)) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    while first[1] and tonumber(first[2]) <= call.now do
      redis.call('ZADD', key, '+inf', first[1])
      first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    end
    if first[1] and (not best_member or tonumber(first[2]) < best) then
      best, best_member, best_key = tonumber(first[2]), first[1], key
    end
  end
  return best, best_member, best_key
end

-- Something comes earlier than any of them knows: one is told.
local function ring_keeper(call)
  while true do
    local at, member, key = keeper(call)
    if not member or call.next_due >= at then return end
    redis.call('ZREM', key, member)  -- also where it is damaged, and the rest would not find it
    local nonce, tenant = string.sub(member, 1, NONCE_BYTES), string.sub(member, NONCE_BYTES + 1)
    strike_out(call, nonce, tenant)
    if bell.ring(call, nonce) then return end
  end
end

-- A session hears of what comes, of this tenant or '' for any, and looks by itself at that time.
function M.note(call, session, tenant, at)
  local key = call.tag .. (tenant == '' and 'bw' or 'bf')
  redis.call('ZADD', key, at < math.huge and text.num(at) or '+inf', session .. tenant)
  if tenant == '' then return end
  set_noted_for(call, tenant, without(noted_for(call, tenant), session) .. session)
end

-- Each hears its bell before it is noted.
local function strike_out_deaf(call, key)
  for _, member in ipairs(bell.deaf(call, key, bell.BELLS)) do
    strike_out(call, string.sub(member, 1, NONCE_BYTES), string.sub(member, NONCE_BYTES + 1))
  end
end

-- What of it stands in the root. Who leases is struck out.
function M.write(call)
  if not M.are_heard(call) then return {} end
  local taker = call.taker
  if taker and call.opened then
    strike_out(call, call.session, '')
    if taker.tenant ~= '' then strike_out(call, call.session, taker.tenant) end
  end
  ring(call, call.to_ring)
  ring_filtered(call, call.to_ring)
  if listens(call) and taken(call) == 0 then
    taker.is_kept = call.next_due < math.huge and keeper(call) <= call.next_due
    M.note(call, call.session, taker.tenant, taker.is_kept and math.huge or call.next_due)
  elseif call.next_due < math.huge then
    ring_keeper(call)
  end
  local count = 0
  for _, key in ipairs(keys_of(call)) do
    if bell.is_sweeping(call) then strike_out_deaf(call, key) end
    count = count + redis.call('ZCARD', key)
  end
  return {'waiters', text.num(count)}
end

return M
