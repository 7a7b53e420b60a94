-- settings - what holds for the whole queue, by the policy file and what was set at run time.
local M = {}

-- PolicyKey
local ORDER, SCOPE, FAIR_BY, LINGER, LEASE, RETENTION, DEAD_RETENTION, BATCH, ATTEMPTS, MAX_PAYLOAD, DRAINING = 1, 2, 3, 5, 7, 8, 9, 12, 13, 14, 23

local PRIORITY, FIFO = 0, 1  -- Order
local UNLIMITED = 9e18  -- no number that is told is as large
local GROUP = 4096  -- one call takes a whole group, so none is ripe only when it has more

local function read(file, set)
  local is_read, values = pcall(function() return records.add_policy(records.add_policy({}, file), set) end)
  if not is_read then return nil end
  local function number(key, usual) return values[key] and values[key][1] or usual end
  local attempts = values[ATTEMPTS]
  local order = number(ORDER, PRIORITY)
  return {values = values, ages = order == PRIORITY, fifo = order == FIFO,
    ranked = number(SCOPE, 0) == 1 and order ~= FIFO, batch = math.min(number(BATCH, GROUP), GROUP), has_batch = number(BATCH, UNLIMITED) < UNLIMITED,
    linger = number(LINGER, 0),
    fair_by = number(FAIR_BY, costs.TURNS), lease = number(LEASE, 60000), attempts = number(ATTEMPTS, 5),
    attempts_by_kind = not attempts or (attempts[1] == 5 and attempts[2] == 1),
    dead_retention = number(DEAD_RETENTION, math.huge), retention = number(RETENTION, math.huge),
    max_payload = number(MAX_PAYLOAD, math.huge), is_draining = values[DRAINING] ~= nil}
end

-- nil: they cannot be read. The last ones stay for the next call: they are what those bytes say, whatever queue has them, and nobody writes into them.
local kept = {}
function M.of(file, set)
  file, set = file or '', set or ''
  if kept.file ~= file or kept.set ~= set then kept = {file = file, set = set, settings = read(file, set)} end
  return kept.settings
end

-- For the rest of a call these hold.
function M.change(call, changed)
  local all = {}
  for name, value in pairs(call.settings) do all[name] = value end
  for name, value in pairs(changed) do all[name] = value end
  call.settings = all
end

return M
