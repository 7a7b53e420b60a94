-- selection - ids of messages that a filter takes, by id. An index has those of all that have not ended. And which of
-- some have a tag.
local M = {}
local LOOKED_AT = 512  -- in one call

-- The tags of what only the client reads else: {name, value} each.
local function tags_of(call, m)
  local from = records.HEAD_BYTES + #m.path + #m.key
  local key = call.tag .. 'm:' .. text.num(m.id)
  local bytes = struct.unpack('<I4', redis.call('GETRANGE', key, from, from + 3))
  local block = redis.call('GETRANGE', key, from + 4, from + 3 + bytes)
  local tags, count, at = {}, struct.unpack('<H', block)
  for i = 1, count do
    local name, value
    name, value, at = struct.unpack('<Hc0Hc0', block, at)
    tags[i] = {name, value}
  end
  return tags
end

local function has_tag(call, m, name, value)
  local is_read, tags = pcall(tags_of, call, m)
  for _, tag in ipairs(is_read and tags or {}) do
    if tag[1] == name and tag[2] == value then return true end
  end
  return false
end

-- Why its last attempt failed; '': it did not.
local function reason_of(call, m)
  local failure = redis.call('GET', call.tag .. 'f:' .. text.num(m.id))
  if not failure then return '' end
  return (struct.unpack('<I4c0', failure, 19))
end

local function is_below(path, top) return top == '' or path == top or string.sub(path, 1, #top + 1) == top .. '/' end

-- from, n, state (-1: any), tenant, reason, then name and value of a tag. reply: where to go on ('': nowhere), then
-- ids.
function M.run(call, args)
  local from, n, state, tenant, reason = args[2], tonumber(args[3]), tonumber(args[4]), args[5], args[6]
  local found = {''}
  local page = redis.call('ZRANGE', call.tag .. 'i', '(' .. from, '+inf', 'BYSCORE', 'LIMIT', 0, LOOKED_AT)
  for _, member in ipairs(page) do
    local id = view.by_number(member)
    local m = store.find(call, id)
    local taken = m and not m.leaving and (state < 0 or m.state == state) and is_below(m.path, tenant) and
      (reason == '' or string.find(reason_of(call, m), reason, 1, true)) and
      (args[7] == nil or has_tag(call, m, args[7], args[8]))
    if taken then found[#found + 1] = text.num(id) end
    if id > 0 then found[1] = text.num(id) end  -- a damaged one would lead back to the first page
    if #found > n then return found end
  end
  if #page < LOOKED_AT then found[1] = '' end
  return found
end

-- name and value of a tag, ids. reply: those of them that have it.
function M.tagged(call, args)
  local found = {}
  for i = 4, #args do
    local m = store.find(call, tonumber(args[i]))
    if m and has_tag(call, m, args[2], args[3]) then found[#found + 1] = args[i] end
  end
  return found
end

return M
