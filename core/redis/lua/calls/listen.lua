-- listen - who waits is told of what it waits for. args: run, sessions, of which tenant ('': any); nothing more: for work of
-- many shards, and of what comes in this one, see bells.lua ('-': it does not wait any more); else for what, of which message, of which
-- run of it, see awaited.lua. It is as quick as it can be: what is due is done by other calls.
local M = {}

local function listen_for_work(keys, nonce, tenant, due)
  bells.note({tag = string.sub(keys[1], 1, -2)}, nonce, tenant, due >= 0 and due or math.huge)
  redis.call('HINCRBY', keys[1], 'waiters', 1)
end

function M.run(keys, args)
  local root = redis.call('HMGET', keys[1], 'schema', 'due')
  if not root[1] then return redis.error_reply('FQMISSING there is no such queue') end
  local nonce = string.sub(args[2], 1, text.NONCE_BYTES)
  if args[4] == '-' then
    bells.strike_out({tag = string.sub(keys[1], 1, -2)}, nonce, args[3])
  elseif args[4] then
    awaited.listen(keys[1], nonce, args[4], args[3], args[5], args[6])
  else
    listen_for_work(keys, nonce, args[3], tonumber(root[2] or -1))
  end
  return {{0, -1, 0}, {}}
end

return M
