-- retitle - the parts of a rename where no call reaches together what it changes: see catalog.h. keys: what is fixed of the
-- queue, under one of its names. args: what, where its keys are, and the other name. Each can be repeated, and does nothing to
-- another queue that has the name by now. reply: the name that it gets, '': it gets none.
local M = {}

local PARTS = {
  -- It gets that name, unless it gets another one already.
  begin = function(key, name) redis.call('HSETNX', key, 'to', name) end,
  -- It does not, since somebody has it.
  leave_off = function(key, name) if redis.call('HGET', key, 'to') == name then redis.call('HDEL', key, 'to') end end,
  -- What has that name by now has this one no more.
  drop = function(key, name) if redis.call('HGET', key, 'to') == name then redis.call('UNLINK', key) end end,
  -- Nothing has the name any more that it had.
  settle = function(key, name) if redis.call('HGET', key, 'was') == name then redis.call('HDEL', key, 'was') end end,
}

function M.run(keys, args)
  if redis.call('HGET', keys[1], 'places') ~= args[2] then return {''} end
  PARTS[args[1]](keys[1], args[3])
  return {redis.call('HGET', keys[1], 'to') or ''}
end

return M
