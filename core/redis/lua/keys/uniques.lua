-- uniques - the keys of --unique and --debounce: which message holds one, and until when after its ack.
--
-- A hash has them by tenant, kind and key: the message, and until when (0: for as long as that holds it). What is
-- held after an ack is in a zset by its end, from where others take it away.
local M = {}
local ENTRY_BYTES = 16  -- one of another length is damaged, and holds nothing
local SWEPT, SWEPT_MOST = 64, 1024  -- whose time is over, in one call

local function name_of(path, debounced, key) return path .. '\0' .. (debounced and 'd' or 'u') .. key end

local function entry_of(call, name)
  local entry = call.uniques[name]
  if not entry then
    local bytes = redis.call('HGET', call.tag .. 'u', name)
    entry = {id = 0, until_ = 0}
    if bytes and #bytes == ENTRY_BYTES then entry.id, entry.until_ = struct.unpack('<dd', bytes) end
    call.uniques[name] = entry
  end
  return entry
end

local function put(call, name, id, until_)
  local entry = entry_of(call, name)
  entry.id, entry.until_, entry.changed = id, until_, true
end

-- The id that holds it, and until when (0: for as long as it is there), or nil.
function M.holder(call, path, debounced, key)
  local entry = entry_of(call, name_of(path, debounced, key))
  local is_held = entry.id ~= 0 and (entry.until_ == 0 or call.now < entry.until_)
  if is_held then return entry.id, entry.until_ end
end

local function name_for(call, m) return name_of(m.path, m.debounced, store.ties(call, m).key) end

function M.take(call, m)
  m.holds_key = true
  put(call, name_for(call, m), m.id, 0)
end

local function let_go(call, m, until_)
  if not m.holds_key then return end
  m.holds_key = false
  put(call, name_for(call, m), until_ and m.id or 0, until_ or 0)
end

-- What was imported, by a token of where it comes from: no tenant has an empty path.
local NOBODY = ''
function M.imported(call, token) return M.holder(call, NOBODY, false, token) end
function M.note_import(call, token, id, until_) put(call, name_of(NOBODY, false, token), id, until_) end

-- What came from another queue, by the token of its move. Until 0: until that move is over.
function M.taken(call, token) return M.holder(call, NOBODY, true, token) end
function M.note_taken(call, token, id, until_) put(call, name_of(NOBODY, true, token), id, until_) end
-- From now on only until then.
function M.forget_taken(call, token, until_)
  local name = name_of(NOBODY, true, token)
  local entry = entry_of(call, name)
  if entry.id ~= 0 and entry.until_ == 0 then put(call, name, entry.id, until_) end
end

function M.free(call, path, key) put(call, name_of(path, false, key), 0, 0) end

-- The one that is held behind it, or nil.
function M.follower(call, m)
  local ties = store.ties(call, m)
  local f = ties and ties.follower ~= 0 and store.find(call, ties.follower) or nil
  return f and f.state == records.HELD and f or nil
end

-- It is held behind nothing any more.
function M.leave_leader(call, m)
  local ties = store.ties(call, m)
  if not ties or ties.behind == 0 then return end
  local leader = store.find(call, ties.behind)
  if leader then store.ties(call, leader).follower, leader.changed = 0, true end
  ties.behind = 0
end

-- Before it goes into `state`, or ends as that.
function M.note(call, m, state)
  if not m.is_tied then return end
  if state == records.DEAD then M.leave_leader(call, m) end
  local follower = store.has_ended(state) and not m.debounced and M.follower(call, m)
  if follower and m.holds_key then
    m.holds_key = false
    follower.changed = true
    M.take(call, follower)
  end
  if m.debounced and state ~= records.DELAYED then let_go(call, m) end
  if state == records.DEAD or state == 'cancelled' then let_go(call, m) end
  local unique_for = store.ties(call, m).unique_for
  if state == 'acked' then let_go(call, m, unique_for > 0 and call.now + unique_for or nil) end
end

-- It is here again, and so is the key that it held, where nobody took it.
function M.take_back(call, m)
  if m.holds_key or M.holder(call, m.path, m.debounced, store.ties(call, m).key) then return end
  M.take(call, m)
end

-- It was kicked, and has its key again where nobody took it.
function M.regain(call, m)
  local ties = store.ties(call, m)
  if not ties or ties.key == '' or m.debounced or m.holds_key then return end
  if not M.holder(call, m.path, false, ties.key) then M.take(call, m) end
end

-- Takes away what nobody holds any more: so many.
local function sweep(call, most)
  local over = redis.call('ZRANGEBYSCORE', call.tag .. 'ux', '-inf', text.num(call.now), 'LIMIT', '0', most)
  for _, name in ipairs(over) do
    local entry = entry_of(call, name)
    if entry.until_ ~= 0 and entry.until_ <= call.now then entry.id, entry.until_ = 0, 0 end
    entry.changed = true
  end
end
function M.sweep(call) sweep(call, SWEPT) end
-- Returns how many there were for that.
function M.sweep_many(call)
  sweep(call, SWEPT_MOST)
  return redis.call('ZCOUNT', call.tag .. 'ux', '-inf', text.num(call.now))
end

-- Twice as many go as a call gives an end, so that there are never many of which that is over.
local function sweep_for_new(call)
  local new = 0
  for _, entry in pairs(call.uniques) do
    if entry.changed and entry.until_ ~= 0 then new = new + 1 end
  end
  if new > 0 then sweep(call, math.max(SWEPT, 2 * new)) end
end

function M.write(call)
  sweep_for_new(call)
  local held, free, timed, timeless = {}, {}, {}, {}
  for name, entry in pairs(call.uniques) do
    if entry.changed and entry.id == 0 then free[#free + 1] = name end
    if entry.changed and entry.id ~= 0 then
      held[#held + 1], held[#held + 2] = name, struct.pack('<dd', entry.id, entry.until_)
    end
    if entry.changed and entry.until_ == 0 then timeless[#timeless + 1] = name end
    if entry.changed and entry.until_ ~= 0 then timed[#timed + 1], timed[#timed + 2] = text.num(entry.until_), name end
  end
  text.call('HDEL', call.tag .. 'u', free)
  text.call('HSET', call.tag .. 'u', held)
  text.call('ZREM', call.tag .. 'ux', timeless)
  text.call('ZADD', call.tag .. 'ux', timed)
end

return M
