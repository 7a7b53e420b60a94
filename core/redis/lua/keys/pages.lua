-- pages - so many of a list of messages from a place on. They are in order by a time and then by id, and a place is the
-- time and the id of one that need not be there any more. Of thousands with the same time it is found by halves.
local M = {}

local id_of = view.by_number

-- How many are at that place or before it.
local function rank_behind(key, at, id)
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. at)
  local high = low + redis.call('ZCOUNT', key, at, at)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if id_of(redis.call('ZRANGE', key, middle, middle)[1]) <= id then low = middle + 1 else high = middle end
  end
  return low
end

-- Each of a page: its time, as the server tells it, and its id.
local function page_of(key, from, to)
  local found = {}
  if to < from then return found end
  local page = redis.call('ZRANGE', key, from, to, 'WITHSCORES')
  for i = 1, #page, 2 do found[#found + 1] = {page[i + 1], id_of(page[i])} end
  return found
end

function M.behind(key, at, id, n)
  local from = rank_behind(key, at, id)
  return page_of(key, from, from + n - 1)
end

-- Those before it, in order: the last is the next one to it.
function M.before(key, at, id, n)
  local to = rank_behind(key, at, id - 1)
  return page_of(key, math.max(0, to - n), to - 1)
end

return M
