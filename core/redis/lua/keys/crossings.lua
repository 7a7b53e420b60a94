-- crossings - messages that are on their way to a queue whose keys no call reaches together with these. A hash has them by id.
--
-- What becomes of one is decided where it goes to: it was taken there under its token, or that token is closed and it never
-- will be. Whoever knows that ends it here; so two that do it at once do the same.
local M = {}
-- The state that it was in; whether it has left; whether it held its key; since when it was in that state, or when it is due;
-- when whoever comes may finish it; then of its token, of the keys that it goes to and of that queue's name bytes and text.
local ENTRY = '<BBBddHc0Hc0Hc0'
local PATIENCE = 15000  -- so long it is left to whoever began, or has begun to finish it

local function read(bytes)
  local e = {}
  local left, held_key
  e.state, left, held_key, e.at, e.due, e.token, e.tag, e.queue = struct.unpack(ENTRY, bytes)
  e.left, e.held_key = left == 1, held_key == 1
  return e
end
local function bytes_of(e)
  return struct.pack('<BBBddH', e.state, e.left and 1 or 0, e.held_key and 1 or 0, e.at, e.due, #e.token) .. e.token ..
    struct.pack('<H', #e.tag) .. e.tag .. struct.pack('<H', #e.queue) .. e.queue
end

local function all(call)
  if not call.crossings then
    call.crossings = {}
    local found = call.crossing and redis.call('HGETALL', call.tag .. 'mv') or {}
    for i = 1, #found, 2 do
      local id, is_read, e = tonumber(found[i]), pcall(read, found[i + 1])
      if id and is_read then call.crossings[id] = e end
    end
  end
  return call.crossings
end

-- nil: it is on no way.
function M.find(call, id) return call.crossing and all(call)[id] or nil end

local function look_for_first(call)
  call.crossing_changes = call.crossing_changes or {}
  call.crossing = math.huge
  for _, each in pairs(call.crossings) do call.crossing = math.min(call.crossing, each.due) end
end

-- `e`: nil: it is so no more.
local function put(call, id, e)
  call.crossing = call.crossing or math.huge
  all(call)[id] = e
  look_for_first(call)
  call.crossing_changes[id] = e or false
end
function M.begin(call, id, e)
  e.due = call.now + PATIENCE
  put(call, id, e)
end
-- It is left to whoever asks for that long.
function M.put_off(call, id) M.begin(call, id, M.find(call, id)) end
function M.note_left(call, id)
  local e = M.find(call, id)
  e.left = true
  put(call, id, e)
end
function M.drop(call, id) put(call, id, nil) end

-- Of an earlier move, which somebody has to finish first.
function M.told(id, e) return {'crossing', text.num(id), e.token, e.tag, e.left and 1 or 0} end

-- All that are due by then, in order.
local function ids_until(call, due)
  local found = {}
  for id, e in pairs(call.crossing and all(call) or {}) do
    if e.due <= due then found[#found + 1] = id end
  end
  table.sort(found)
  return found
end
function M.all_ids(call) return ids_until(call, math.huge) end

-- Those that may be finished. Where the root says that there are some, and there are none, it says so no more.
function M.all_due(call)
  local found = ids_until(call, call.now)
  if #found == 0 and M.is_due(call) then look_for_first(call) end
  return found
end

-- When the first of them may be; a client has to see to it.
function M.due(call) return call.crossing or math.huge end
function M.is_due(call) return M.due(call) <= call.now end

function M.write(call)
  for id, e in pairs(call.crossing_changes or {}) do
    if e then
      redis.call('HSET', call.tag .. 'mv', text.num(id), bytes_of(e))
    else
      redis.call('HDEL', call.tag .. 'mv', text.num(id))
    end
  end
  if not call.crossing_changes then return end
  if call.crossing < math.huge then
    redis.call('HSET', call.root, 'crossing', text.num(call.crossing))
  else
    redis.call('HDEL', call.root, 'crossing')
  end
end

return M
