-- awaited - who waits for something else than a turn, and is told when it has come about.
--
-- A client that found nothing is noted by its session, and looks once more; then it hears of it on a channel of its own, is
-- struck out, and looks. The root says for what anybody waits: while that is nothing, no call pays for them.
--
--   be, bo  by id: for the end of a message; for what its runs write, too
--   bi      for the queue to be idle
--   bl      by id (0: any) and tenant: for an event
--   br      by when it came: for room for a message of a tenant
-- A bell may be lost, with a connection: then it looks as late as its own patience says. One that was killed stays noted, as in
-- bells.lua: each hears its news before it is noted, and those that hear nothing are struck out.
local M = {}
local NONCE_BYTES = text.NONCE_BYTES
local KINDS = 'eoilr'
local LOOKED_AT = 64  -- by one call, where each has to be asked: the others are as if their bells were lost
local FOR_ALL = false -- room for whoever waits for it

function M.read(call, kinds)
  if not kinds or kinds == '' then return end
  call.awaited = {}
  for kind in string.gmatch(kinds, '[' .. KINDS .. ']') do call.awaited[kind] = {} end
end

-- It waits from now on. `id`, `delivery`: of the message, and of the run that it reads ('0': none).
function M.listen(root, nonce, kind, tenant, id, delivery)
  if #kind ~= 1 or not string.find(KINDS, kind, 1, true) then error('nobody waits for that') end
  local tag = string.sub(root, 1, -2)
  redis.call('ZADD', tag .. 'b' .. kind, kind == 'r' and text.num(pace.now(root)) or id, nonce .. tenant)
  if kind == 'o' then runs.listen(tag, runs.name_of(id, delivery)) end
  local kinds = redis.call('HGET', root, 'awaited') or ''
  if not string.find(kinds, kind, 1, true) then redis.call('HSET', root, 'awaited', kinds .. kind) end
end

-- More may be had by anybody than before.
function M.widen(call)
  if call.awaited then bell.note(call, 'r', FOR_ALL) end
end

local function ring_by_id(call, kind)
  for _, id in ipairs(call.awaited[kind]) do bell.tell_of(call.tag, kind, id) end
end

local function is_paused(call, n)
  local paused = false
  seats.each_node(call, n, function(each) paused = paused or each.paused end)
  return paused
end
-- Nothing runs, is on its way back, or could be served but for a limit: what is paused is left. While nothing runs only a pause
-- or time keeps a tenant with something ready from its seat, and what time keeps is listed: so those paused cost nothing.
function M.is_idle(call)
  local sums, root = call.sums, seats.node(call, '')
  if sums.leased + sums.returning > 0 then return false end
  if sums.ready == 0 or root.paused then return true end
  if seats.count_of(root) > 0 then return false end
  for entry in view.each(seats.index(call, 'nt')) do
    local path, of_own = string.gsub(entry[2], '/$', '')
    local n = seats.node(call, path)
    local has_some = (of_own > 0 and n.own.count or seats.count_of(n)) > 0
    if has_some and not is_paused(call, n) then return false end
  end
  return true
end

local function ring_of_idle(call)
  if not M.is_idle(call) then return end
  call.awaited.i[1] = true
  bell.tell(call.tag, 'i', redis.call('ZRANGE', call.tag .. 'bi', 0, -1))
end

local function ring_of_events(call)
  local found, page = {}, redis.call('ZRANGE', call.tag .. 'bl', 0, LOOKED_AT - 1, 'WITHSCORES')
  for i = 1, #page, 2 do
    local tenant, id, is_it = string.sub(page[i], NONCE_BYTES + 1), tonumber(page[i + 1]), false
    for _, of in ipairs(call.awaited.l) do
      is_it = is_it or (id == 0 and text.is_at_or_below(of.path, tenant)) or (id > 0 and of.id == id)
    end
    if is_it then found[#found + 1] = page[i] end
  end
  bell.tell(call.tag, 'l', found)
end

-- Whether room at `path` is some for that tenant, too: a limit is above both.
local function is_room_for(call, path, tenant)
  if path == FOR_ALL then return true end
  for _, top in ipairs(amounts.limited_above(call, path)) do
    if text.is_at_or_below(tenant, top) then return true end
  end
  return false
end

-- What one message leaves is for one of them, the first that came.
local function ring_of_room(call)
  local rooms, found = call.awaited.r, {}
  for _, member in ipairs(redis.call('ZRANGE', call.tag .. 'br', 0, LOOKED_AT - 1)) do
    local tenant = string.sub(member, NONCE_BYTES + 1)
    for i, path in ipairs(rooms) do
      if is_room_for(call, path, tenant) then
        if path ~= FOR_ALL then table.remove(rooms, i) end
        found[#found + 1] = member
        break
      end
    end
  end
  rooms[#rooms + 1] = FOR_ALL  -- they were looked at
  bell.tell(call.tag, 'r', found)
end

local RINGS = {i = ring_of_idle, l = ring_of_events, r = ring_of_room}

-- Where nobody is left who waits for that, nobody pays for it.
local function drop_kind(call, kind)
  if redis.call('EXISTS', call.tag .. 'b' .. kind) == 1 then return end
  local kinds = redis.call('HGET', call.root, 'awaited') or ''
  redis.call('HSET', call.root, 'awaited', (string.gsub(kinds, kind, '')))
end

function M.write(call)
  if not call.awaited then return end
  for kind, list in pairs(call.awaited) do
    if kind == 'i' or #list > 0 then (RINGS[kind] or ring_by_id)(call, kind) end
    local is_sweeping, key = bell.is_sweeping(call), call.tag .. 'b' .. kind
    if is_sweeping then text.call('ZREM', key, bell.deaf(call, key, bell.NEWS)) end
    if #list > 0 or is_sweeping then drop_kind(call, kind) end
  end
end

return M
