-- tolls - what a turn of this shard costs beside one of the queue's other shards.
--
-- Which shard has the next turn is chosen before anybody knows what that will cost. So a turn counts as what the last
-- ones cost there on average: by bytes as they started, by time as their runs ended. What each moves the average by is made
-- up for by the next ones, so over many turns as much is counted as they cost. The average lies in the root beside the
-- weight, where clients read it. Where each message costs one turn, and in a queue of one shard, nothing is kept.
local M = {}
local PARTS = 8  -- of the way to the last one that the average moves

local function is_kept(call) return call.step ~= 1 and call.settings.fair_by ~= costs.TURNS end

-- false: none has been paid yet.
local function average(call)
  if call.toll == nil then
    call.toll = tonumber(string.match(redis.call('HGET', call.root, 'open') or '', ' (%d+)$')) or false
  end
  return call.toll
end
local function note(call, cost)
  local before = average(call)
  call.toll = before and before + (cost - before) / PARTS or cost
end

-- One with so many bytes starts. How long it runs nobody knows: that is told as the average.
function M.started(call, bytes)
  if not is_kept(call) then return end
  local cost = average(call)
  if call.settings.fair_by == costs.BYTES then
    cost = costs.of_start(call, nil, bytes)
    note(call, cost)
  end
  if cost then call.paid = (call.paid or 0) + cost end
end
-- A run has ended, which cost so much.
function M.ended(call, cost)
  if is_kept(call) then note(call, cost) end
end
-- From now on turns are paid by something else.
function M.forget(call) call.toll = false end

-- As it stands in the root, behind the weight.
function M.bytes(call) return is_kept(call) and average(call) and ' ' .. text.num(average(call)) or '' end
-- What was paid in this call; nil: nothing that is known.
function M.paid(call) return call.paid and text.num(call.paid) end

return M
