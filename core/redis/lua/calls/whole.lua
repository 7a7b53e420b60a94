-- whole - the roots of all shards of a queue are there; of one that is being removed nobody says so.
local M = {}

function M.run(keys)
  local is_there = redis.call('EXISTS', keys[1])
  if is_there == 1 then redis.call('HSET', keys[1], 'whole', '1') end
  return {is_there}
end

return M
