-- copied - whether there are copies of what is fixed of a queue: see queue_meta.h. keys: what is fixed of it. args: where its
-- keys are, and when copies were last written, or tried where there are some; '0': there are to be none. Of one that is being
-- removed, gets another name or is another one by now nobody says so. reply: whether it is so.
local M = {}

function M.run(keys, args)
  local told = redis.call('HMGET', keys[1], 'places', 'to')
  local is_it = told[1] == args[1] and not told[2]
  if is_it then redis.call('HSET', keys[1], 'copies', args[2]) end
  return {is_it and 1 or 0}
end

return M
