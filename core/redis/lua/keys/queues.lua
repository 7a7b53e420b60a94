-- queues - the ready messages of each tenant, in their order, and where groups gather since when each is so.
local M = {}
local KEYED = -1099511627776  -- before every priority

-- The beginning of a key, by which it is compared, whatever was typed for that value: as order_of_sort_key() of
-- core/base/sort_key.h.
local NUMBER, TIME, NEGATIVE, ZERO, TIME_BYTES = 16, 32, 0, 1, 13
local function order_of_key(key)
  local kind, sign = string.byte(key, 1, 2)
  if kind == TIME then return string.sub(key, 1, TIME_BYTES) end
  if kind ~= NUMBER or not sign then return key end
  if sign == ZERO then return string.sub(key, 1, 2) end
  for at = 5, #key do
    local byte = string.byte(key, at)
    if sign == NEGATIVE then byte = 255 - byte end
    if byte < 16 or byte % 16 == 0 then return string.sub(key, 1, at) end
  end
  return key
end

-- The place of one: {score, member}. Keys go first, then priorities, then ids.
function M.place_of(m)
  local id = records.member_of(m)
  if m.fifo then return 0, '\255' .. id end
  if m.key == '' then return 0 - m.priority, '\255' .. id end
  local rank = struct.pack('>I4', 2147483647 - m.priority)
  return KEYED, '\1' .. string.gsub(order_of_key(m.key), '%z', '\0\255') .. '\0\0' .. rank .. id
end
local function order_of(member)
  if string.byte(member) == 255 then return text.number_in(member, 2) end
end
function M.id_of(member) return text.number_in(member, #member - 7) end

-- What of a member says where it stands among those of other tenants; behind it is something else. nil: it is damaged.
function M.rank_of(member)
  if string.byte(member) == 255 then return '\255' end
  local _, key_end = string.find(member, '\0\0', 1, true)
  return key_end and string.sub(member, 1, key_end + 4) or nil
end

function M.of(call, path)
  local queue = call.queues[path]
  if not queue then
    queue = view.open(call.tag .. 'q:' .. path, order_of)
    call.queues[path] = queue
  end
  return queue
end

local function ages_of(call, path)
  if not call.ages[path] then call.ages[path] = view.open(call.tag .. 'gs:' .. path, view.by_number) end
  return call.ages[path]
end
function M.note_age(call, m, is_ready)
  if call.settings.linger == 0 then return end
  local name = records.member_of(m)
  if is_ready then view.put(ages_of(call, m.path), m.since, name) else view.take(ages_of(call, m.path), name) end
end
-- Since when the oldest of them is ready, or nil.
function M.oldest(call, path)
  local first = view.first(ages_of(call, path))
  return first and first[1]
end
function M.forget_ages(call, path) call.aged[#call.aged + 1] = path end

function M.put(call, m)
  view.put(M.of(call, m.path), M.place_of(m))
  if call.ranked then call.touched[m.path] = true end
end
function M.take(call, m)
  local _, member = M.place_of(m)
  view.take(M.of(call, m.path), member)
  if call.ranked then call.touched[m.path] = true end
end

function M.write(call)
  for _, path in ipairs(call.aged) do
    call.ages[path] = nil
    redis.call('UNLINK', call.tag .. 'gs:' .. path)
  end
  for _, queue in pairs(call.queues) do view.write(queue) end
  for _, ages in pairs(call.ages) do view.write(ages) end
end

return M
