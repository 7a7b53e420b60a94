-- rename - a queue that nobody is attached to gets another name. Its keys stay where they are, as what is fixed of it
-- says.
-- keys: what is fixed of it, the same under the new name, the names of all queues, the roots of its shards. args: name,
-- new name, where its keys are. reply: 'renamed', 'missing', 'exists', or 'attached', a process and its host.
local M = {}

function M.run(keys, args)
  local at = redis.call('HGET', keys[1], 'places')
  if at ~= args[3] then return {'missing'} end
  if redis.call('EXISTS', keys[2]) == 1 or redis.call('SISMEMBER', keys[3], args[2]) == 1 then return {'exists'} end
  for i = 4, #keys do
    local pid, host = sessions.anybody(keys[i])
    if pid then return {'attached', pid, host} end
  end
  redis.call('RENAME', keys[1], keys[2])
  redis.call('SADD', keys[3], args[2])
  redis.call('SREM', keys[3], args[1])
  return {'renamed'}
end

return M
