-- push - puts messages. args: run, sessions, a token, how long the longest payload is of all shards' parts, then for each
-- its tenant, fields, sort key and the rest. reply: head; of each what became of it, and the id. A push with the token of an
-- earlier one is that one.
local M = {}
local ACCEPTED, DUPLICATE, REPLACED, DEBOUNCED = 0, 1, 2, 3
local UNIQUE, DEBOUNCE = 1, 2  -- what its key is
M.DEBOUNCE = DEBOUNCE
local KEEP, AFTER = 0, 2       -- modes of a unique key
local TOKEN = 600000           -- so long a push is known by it
local FIELDS = '<i4HI4dddBBdddBdH'

function M.read(call, path, fields, key, rest)
  terms.meet(call, path)
  local priority, attempts_max, payload_bytes, ttl, delay, at, kind, mode, unique_for, quiet, max_wait, is_command, keep, bytes,
    from = struct.unpack(FIELDS, fields)
  local numbers = ttl + delay + at + unique_for + quiet + max_wait + keep  -- none, where one of them is none
  if from + bytes - 1 > #fields or numbers - numbers ~= 0 or #rest ~= 4 + struct.unpack('<I4', rest) + payload_bytes then
    error('that is no push')
  end
  local after = {}
  for each = from + bytes, #fields, 9 do
    local id, any = struct.unpack('<dB', fields, each)
    after[#after + 1] = {id = id, any = any == 1}
  end
  return {path = path, key = key, rest = rest, after = after, priority = priority, attempts_max = attempts_max,
    bytes = payload_bytes, ttl = ttl, delay = at > 0 and pace.at(call, at) - call.now or delay, kind = kind, mode = mode,
    unique_for = unique_for, quiet = quiet, max_wait = max_wait, is_command = is_command == 1, keep = keep,
    text = bytes == 0 and '' or string.sub(fields, from, from + bytes - 1)}
end

-- A new one with a key, which it holds unless it is held behind another.
local function add(call, p, behind)
  local m = after.add(call, p, behind)
  local ties = store.ties(call, m, true)
  ties.key, ties.unique_for, m.debounced = p.text, p.unique_for, p.kind == DEBOUNCE
  if not behind then uniques.take(call, m) end
  return ACCEPTED, m.id
end

-- The one that holds it, once its own time has come where that is due; and until when that is kept of one that has ended.
local function holder(call, p, is_debounced)
  local id = uniques.holder(call, p.path, is_debounced, p.text)
  local m = id and store.find(call, id)
  if m then messages.catch_up(call, m) end
  return uniques.holder(call, p.path, is_debounced, p.text)
end

local function put_unique(call, p)
  local id, until_ = holder(call, p, false)
  if not id then return add(call, p) end
  if p.mode == KEEP and until_ > 0 then return DUPLICATE, id end
  local m = store.find(call, id)
  if m and p.mode == KEEP then return DUPLICATE, id end
  if not m then  -- it has ended, or is lost: it does not count
    uniques.free(call, p.path, p.text)
    return add(call, p)
  end
  local follower = uniques.follower(call, m)
  if follower then
    messages.replace(call, follower, p)
    return REPLACED, follower.id
  end
  if m.state == records.LEASED then return add(call, p, m) end
  if p.mode == AFTER then return DUPLICATE, id end
  messages.replace(call, m, p)
  return REPLACED, id
end

local function debounce(call, p)
  local id = holder(call, p, true)
  local m = id and store.find(call, id)
  if not m then
    p.delay = p.max_wait >= 0 and math.min(p.quiet, p.max_wait) or p.quiet
    return add(call, p)
  end
  local latest = p.max_wait >= 0 and m.pushed + p.max_wait or math.huge
  messages.replace(call, m, p, math.min(call.now + p.quiet, latest))
  return DEBOUNCED, id
end

local function put(call, p)
  if p.kind == UNIQUE then return put_unique(call, p) end
  if p.kind == DEBOUNCE then return debounce(call, p) end
  return ACCEPTED, after.add(call, p).id
end

-- What it would replace is on its way to another queue: what it is there, or whether it stays, is not known here.
local function meets_leaving(call, p)
  if p.kind ~= UNIQUE or p.mode == KEEP then return false end
  local id = holder(call, p, false)
  return id and store.is_leaving(call, id)
end
local function leaving_fault() return redis.error_reply('FQLEAVING it is') end

-- A message of a step or of a schedule: its id, or nil and why it cannot be. args from `at` on: as of run; `behind`: what
-- it comes after.
function M.one(call, args, at, behind)
  if call.settings.is_draining then return nil, redis.error_reply('FQDRAINING it is') end
  local p = M.read(call, args[at], args[at + 1], args[at + 2], args[at + 3])
  p.after = behind or p.after
  if meets_leaving(call, p) then return nil, leaving_fault() end
  amounts.begin(call)
  local _, id = put(call, p)
  local refusal = amounts.refusal(call, p.path)
  if refusal then return nil, amounts.fault(refusal) end
  return id
end

local function meet(call, args)
  local paths = {}
  for at = call.rules > 0 and 5 or #args + 1, #args, 4 do paths[#paths + 1] = args[at] end
  return terms.meet_all(call, paths)
end

function M.run(keys, args)
  local call, fault = calls.begin(keys, args[1], args[2])
  if not call then return fault end
  local head, items, batch = calls.head(call), {}, {}
  local before = redis.call('GET', call.tag .. 'tok:' .. args[3])
  if before then
    calls.finish(call)
    head[3] = 0
    return {head, cmsgpack.unpack(before)}
  end
  local waits = call.more and not call.hurries or not meet(call, args)
  head[3] = waits and 1 or 0
  if not waits then
    if call.settings.is_draining then return redis.error_reply('FQDRAINING it is') end
    local most = call.settings.max_payload
    if tonumber(args[4]) > most then return redis.error_reply('FQLONG ' .. args[4] .. ' ' .. text.num(most)) end
    for at = 5, #args, 4 do
      local p = M.read(call, args[at], args[at + 1], args[at + 2], args[at + 3])
      batch[#batch + 1] = p
      if meets_leaving(call, p) then return leaving_fault() end
      for _, each in ipairs(p.after) do
        if store.state(call, each.id) == nil then return redis.error_reply('FQUNKNOWN ' .. text.num(each.id) .. ' ' .. #batch - 1) end
      end
    end
    amounts.begin(call)
    for _, p in ipairs(batch) do
      local status, id = put(call, p)
      items[#items + 1], items[#items + 2] = status, text.num(id)
    end
    for _, p in ipairs(batch) do
      local refusal = amounts.refusal(call, p.path)
      if refusal then return amounts.fault(refusal) end
      if call.limited == 0 then break end  -- only the queue may be full, and that is the same for all
    end
    if call.awaited then
      for _, p in ipairs(batch) do bell.note(call, 'r', p.path) end  -- where there is still room it is for the next one
    end
    uniques.sweep(call)
  end
  calls.finish(call)
  -- Last: what a token tells of is there.
  if #items > 0 then redis.call('SET', call.tag .. 'tok:' .. args[3], cmsgpack.pack(items), 'PX', TOKEN) end
  return {head, items}
end

return M
