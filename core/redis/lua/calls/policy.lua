-- policy - fq.toml of all queues below a prefix: a hash of text, version and seal. args: 'this': only
-- where that version is there, 'any': whichever is; the version, some letters by chance, the text and its seal ('': none).
-- reply: whether it is kept now, and the version that is there.
local M = {}
local LONGER = -1

function M.run(keys, args)
  local version = redis.call('HGET', keys[1], 'version') or '0'
  if args[1] == 'this' and args[2] ~= version then return {0, version} end
  -- By number and chance: a server that has lost the last one gives its number again, and not its letters.
  version = redis.call('HINCRBY', keys[1], 'number', 1) .. '-' .. args[3]
  redis.call('HSET', keys[1], 'version', version, 'text', args[4], 'seal', args[5])
  return {1, version}
end

-- Likewise, but for a text that is longer than what is there: nothing is done then.
function M.shorten(keys, args)
  local there = redis.call('HGET', keys[1], 'text') or ''
  return #args[4] > #there and {LONGER, ''} or M.run(keys, args)
end

return M
