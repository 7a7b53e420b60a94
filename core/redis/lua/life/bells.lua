-- bells - who waits for something to take, and is told when it comes about.
--
-- A client that found nothing is noted (bw; bf: it wants of one tenant only) in the call in which it found that, and
-- hears of the next thing that it could take on a channel of its own session. Each bell is for one client and strikes it
-- out, so that one message wakes one of a thousand. The score is when its time comes: it looks then without a bell. One
-- that does so is enough; for the others it is infinite. The root says how many there are: while that is nobody, no call
-- pays for them.
--
-- A bell may be lost, with the client that it was for: then the others look as late as their own patience says.
local M = {}
local NONCE_BYTES = 6
local FILTERED_MOST = 64  -- looked at by one call: the others are as if their bells were lost

local function keys_of(call) return {call.tag .. 'bw', call.tag .. 'bf'} end

-- call.taker: of a lease, what was wanted and how many were taken; nil: this is another call.
local function listens(call) return call.taker and call.taker.listens end
local function taken(call) return call.taker and call.taker.taken or 0 end

function M.are_heard(call) return call.opened or listens(call) end

-- Before anything is written, which moves what is read: who is to hear of it. `due`: when time changes something next.
function M.prepare(call, due)
  call.next_due, call.to_ring, call.filtered = due, 0, {}
  if not call.opened then return end
  local count = call.opened - taken(call)
  -- It came since its bell rang, or would have: what it leaves is for the next one.
  local hands_on = call.taker and (call.taker.rung or (listens(call) and taken(call) > 0))
  if hands_on then count = math.max(count, 1) end
  if count <= 0 or not pick.any(call, '') then return end
  call.to_ring = count
  local rung = {}
  for _, member in ipairs(redis.call('ZRANGE', call.tag .. 'bf', 0, FILTERED_MOST - 1)) do
    local tenant = string.sub(member, NONCE_BYTES + 1)
    if (rung[tenant] or 0) < count and pick.any(call, tenant) then
      call.filtered[#call.filtered + 1] = member
      rung[tenant] = (rung[tenant] or 0) + 1
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

local function ring_filtered(call)
  text.call('ZREM', call.tag .. 'bf', call.filtered)
  for _, member in ipairs(call.filtered) do bell.ring(call, string.sub(member, 1, NONCE_BYTES)) end
end

-- When the first of them looks by itself. One whose time has come is about to, and keeps no time from then on; it stays
-- noted, for where it looks at many shards it does not call this one.
local function keeper(call)
  local best, best_key, best_member = math.huge, nil, nil
  for _, key in ipairs(keys_of(call)) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    while first[1] and tonumber(first[2]) <= call.now do
      redis.call('ZADD', key, '+inf', first[1])
      first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    end
    if first[1] and (not best_key or tonumber(first[2]) < best) then
      best, best_key, best_member = tonumber(first[2]), key, first[1]
    end
  end
  return best, best_key, best_member
end

-- Something comes earlier than any of them knows: one is told.
local function ring_keeper(call)
  while true do
    local at, key, member = keeper(call)
    if not key or call.next_due >= at then return end
    redis.call('ZREM', key, member)
    if bell.ring(call, string.sub(member, 1, NONCE_BYTES)) then return end
  end
end

-- A session hears of what comes, of this tenant or '' for any, and looks by itself at that time.
function M.note(call, session, tenant, at)
  local key = call.tag .. (tenant == '' and 'bw' or 'bf')
  redis.call('ZADD', key, at < math.huge and text.num(at) or '+inf', session .. tenant)
end

-- What of it stands in the root. Who leases is struck out.
function M.write(call)
  if not M.are_heard(call) then return {} end
  local taker = call.taker
  if taker and call.opened then
    redis.call('ZREM', call.tag .. 'bw', call.session)
    if taker.tenant ~= '' then redis.call('ZREM', call.tag .. 'bf', call.session .. taker.tenant) end
  end
  ring(call, call.to_ring)
  ring_filtered(call)
  if listens(call) and taken(call) == 0 then
    taker.is_kept = call.next_due < math.huge and keeper(call) <= call.next_due
    M.note(call, call.session, taker.tenant, taker.is_kept and math.huge or call.next_due)
  elseif call.next_due < math.huge then
    ring_keeper(call)
  end
  local count = 0
  for _, key in ipairs(keys_of(call)) do count = count + redis.call('ZCARD', key) end
  return {'waiters', text.num(count)}
end

return M
