-- view - a zset as it will be at the end of the call: what lies in it, less what the call has taken out, and
-- what it has put in. Nothing is written before write(), so a call that only looks walks the same way.
local M = {}
local PAGE = 16

-- `order_of(member)`: a number that orders equal scores as their bytes would, or nil.
function M.open(key, order_of)
  return {key = key, order_of = order_of, had = {}, at = 1, read = 0, whole = false, new = {}, gone = {}}
end

local function goes_before(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  if a[3] and b[3] then return a[3] < b[3] end
  return text.before(a[2], b[2])
end

local function read_on(v)
  local page = redis.call('ZRANGE', v.key, v.read, v.read + PAGE - 1, 'WITHSCORES')
  for i = 1, #page, 2 do v.had[#v.had + 1] = {tonumber(page[i + 1]), page[i], v.order_of(page[i])} end
  v.read = v.read + #page / 2
  v.whole = #page < 2 * PAGE
end

-- {score, member, order}, or nil when there is none.
function M.first(v)
  while not v.whole and not v.had[v.at] do read_on(v) end
  while v.had[v.at] and v.gone[v.had[v.at][2]] do
    v.at = v.at + 1
    while not v.whole and not v.had[v.at] do read_on(v) end
  end
  local had, new = v.had[v.at], v.new[1]
  if new and (not had or goes_before(new, had)) then return new end
  return had
end

function M.put(v, score, member)
  local entry = {score, member, v.order_of(member)}
  local at = #v.new
  while at > 0 and goes_before(entry, v.new[at]) do at = at - 1 end
  table.insert(v.new, at + 1, entry)
end

function M.take(v, member)
  for at, entry in ipairs(v.new) do
    if entry[2] == member then return table.remove(v.new, at) end
  end
  v.gone[member] = true
end

-- All of them, in order.
function M.all(v)
  while not v.whole do read_on(v) end
  local entries, at, had = {}, 1, v.at
  while v.had[had] or v.new[at] do
    local old, new = v.had[had], v.new[at]
    if old and v.gone[old[2]] then
      had = had + 1
    elseif old and not (new and goes_before(new, old)) then
      entries[#entries + 1], had = old, had + 1
    else
      entries[#entries + 1], at = new, at + 1
    end
  end
  return entries
end

function M.write(v)
  local gone, new = {}, {}
  for member in pairs(v.gone) do gone[#gone + 1] = member end
  for _, entry in ipairs(v.new) do
    new[#new + 1] = text.num(entry[1])
    new[#new + 1] = entry[2]
  end
  text.call('ZREM', v.key, gone)
  text.call('ZADD', v.key, new)
end

return M
