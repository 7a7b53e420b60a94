-- make - a hash with these fields where there is none; the first who comes wins. reply: whether it was made, then
-- what is there.
local M = {}

function M.run(keys, args)
  local is_new = redis.call('EXISTS', keys[1]) == 0
  if is_new then redis.call('HSET', keys[1], unpack(args)) end
  return {is_new and 1 or 0, redis.call('HGETALL', keys[1])}
end

return M
