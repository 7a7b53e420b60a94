-- view - a zset as it will be at the end of the call: what lies in it, less what the call has taken out, and
-- what it has put in. Nothing is written before write(), so a call that only looks walks the same way.
--
-- Most are only written, or read for their first: what was put in is in order from the first read on, and of what lies there
-- only what is come to becomes an entry.
local M = {}
local FIRST_PAGE, PAGE, LARGE_PAGE = 2, 8, 256

-- `order_of(member)`: a number that orders equal scores as their bytes would; nil: the bytes do, or there is none for that one.
function M.open(key, order_of)
  return {key = key, order_of = order_of, at = 1, read = 0, new = {}, gone = {}}
end

-- Of members that are a number of eight bytes.
function M.by_number(member) return text.number_in(member, 1) end

local function goes_before(order_of, a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  if order_of then
    local x, y = order_of(a[2]), order_of(b[2])
    if x and y then return x < y end
  end
  return text.before(a[2], b[2])
end
M.goes_before = goes_before

-- Members and scores, one after the other.
local function read_on(v, count)
  local page
  if v.read == 0 and count == FIRST_PAGE then  -- the usual one; a number would be written out in each call
    page = redis.call('ZRANGE', v.key, '0', '1', 'WITHSCORES')
  else
    page = redis.call('ZRANGE', v.key, v.read, v.read + count - 1, 'WITHSCORES')
  end
  v.whole = #page < 2 * count
  v.read = v.read + #page / 2
  if not v.had then
    v.had = page
  else
    local had, last = v.had, #v.had
    for i = 1, #page do had[last + i] = page[i] end
  end
end

-- Of what lies there the first that was not taken out.
local function first_there(v)
  while true do
    local member = v.had and v.had[v.at]
    if not member then
      if v.whole then return nil end
      read_on(v, v.had and PAGE or FIRST_PAGE)
    elseif v.gone[member] then
      v.at, v.there = v.at + 2, nil
    else
      if not v.there then v.there = {tonumber(v.had[v.at + 1]), member} end
      return v.there
    end
  end
end

-- What was put in, in order.
local function sorted(v)
  if not v.sorted then
    v.sorted = {}
    for member, score in pairs(v.new) do v.sorted[#v.sorted + 1] = {score, member} end
    if #v.sorted > 1 then
      table.sort(v.sorted, function(a, b) return goes_before(v.order_of, a, b) end)
    end
  end
  return v.sorted
end

-- {score, member}, or nil when there is none.
function M.first(v)
  local there = first_there(v)
  if next(v.new) == nil then return there end
  local new = sorted(v)[1]
  if not there or goes_before(v.order_of, new, there) then return new end
  return there
end

function M.put(v, score, member)
  v.new[member] = score
  local all = v.sorted
  if not all then return end
  local entry, at = {score, member}, #all
  while at > 0 and goes_before(v.order_of, entry, all[at]) do at = at - 1 end
  table.insert(all, at + 1, entry)
end

function M.take(v, member)
  if not v.new[member] then
    v.gone[member] = true
    return
  end
  v.new[member] = nil
  for at, entry in ipairs(v.sorted or {}) do
    if entry[2] == member then
      table.remove(v.sorted, at)
      return
    end
  end
end

-- Each that is there when it is begun, in order. Who stops has read little more than that far.
function M.each(v)
  local new, next_new, at = {}, 1, v.at
  for i, entry in ipairs(sorted(v)) do new[i] = entry end
  local function there()
    while true do
      local member = v.had and v.had[at]
      if member and not v.gone[member] then return {tonumber(v.had[at + 1]), member} end
      if not member and v.whole then return nil end
      if member then at = at + 2 else read_on(v, LARGE_PAGE) end
    end
  end
  return function()
    local entry = there()
    if new[next_new] and (not entry or goes_before(v.order_of, new[next_new], entry)) then
      next_new = next_new + 1
      return new[next_new - 1]
    end
    at = at + 2
    return entry
  end
end
-- All of them, in order.
function M.all(v)
  local entries, last = {}, 0
  for entry in M.each(v) do
    last = last + 1
    entries[last] = entry
  end
  return entries
end

local function remove(v)
  local gone, last = {}, 0
  for member in pairs(v.gone) do
    -- Whoever was put in again only has another score.
    if not v.new[member] then
      last = last + 1
      gone[last] = member
    end
  end
  text.call('ZREM', v.key, gone)
end

local function add(v)
  local new, last = {}, 0
  for member, score in pairs(v.new) do
    new[last + 1], new[last + 2] = score == 0 and '0' or score, member
    last = last + 2
  end
  text.call('ZADD', v.key, new)
end

-- Of most there is one at the most.
function M.write(v)
  local member = next(v.gone)
  if member and next(v.gone, member) then
    remove(v)
  elseif member and not v.new[member] then
    redis.call('ZREM', v.key, member)
  end
  local score
  member, score = next(v.new)
  if member and next(v.new, member) then
    add(v)
  elseif member then
    redis.call('ZADD', v.key, score == 0 and '0' or score, member)
  end
end

return M
