-- listen - who waits for work of many shards hears of what comes in this one, see bells.lua. args: run, sessions, of which
-- tenant ('': any). It is as quick as it can be: what is due is done by other calls.
local M = {}

function M.run(keys, args)
  local root = redis.call('HMGET', keys[1], 'schema', 'due')
  if not root[1] then return redis.error_reply('FQMISSING there is no such queue') end
  local due = tonumber(root[2] or -1)
  bells.note({tag = string.sub(keys[1], 1, -2)}, string.sub(args[2], 1, 6), args[3], due >= 0 and due or math.huge)
  redis.call('HINCRBY', keys[1], 'waiters', 1)
  return {{0, -1, 0}, {}}
end

return M
