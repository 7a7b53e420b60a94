-- rights - what a function's caller may not do of what it needs. args: the commands that clients send themselves, with
-- blanks between; a key that it may work on. reply: those of them that it may not, and of those that functions call.
--
-- Redis ends a function at what its caller may not do, and what it did before that stays. So whoever lacks one right of
-- those that any of them needs is refused before anything is done: 6 us a call.
local M = {}

-- How many arguments a command takes at least behind its key. A server looks for keys where they should be, and asks about
-- no command that is not whole.
local BEHIND = {append = 1, getrange = 2, hdel = 1, hexists = 1, hget = 1, hincrby = 2, hmget = 1, hscan = 1, hset = 2,
  hsetnx = 2, lrange = 2, ltrim = 2, mset = 1, pexpire = 1, rename = 1, rpush = 1, sadd = 1, set = 1, setrange = 2,
  sismember = 1, srem = 1, xadd = 3, xrange = 2, xtrim = 2, zadd = 2, zcount = 2, zlexcount = 2, zrange = 2, zrangebylex = 2,
  zrangebyscore = 2, zrank = 1, zrem = 1, zscore = 1}
local WITHOUT_KEY = {time = {}, info = {}, scan = {'0'}, fcall = {'f', '0'}, fcall_ro = {'f', '0'}}

-- What raises gives no answer, and counts as allowed: it must not end all that fq does.
local function is_allowed(...)
  local _, allowed = pcall(redis.acl_check_cmd, ...)
  return allowed
end
local function may(command, key)
  local others, behind = WITHOUT_KEY[command], BEHIND[command]
  if others then return is_allowed(command, unpack(others)) end
  if not behind then return is_allowed(command, key) end
  if behind == 1 then return is_allowed(command, key, key) end
  if behind == 2 then return is_allowed(command, key, key, key) end
  return is_allowed(command, key, key, key, key)
end

-- The first; nil: none. `key`: one of those that it works on.
function M.lacking(key)
  for _, command in ipairs(commands) do
    if not may(command, key) then return command end
  end
end

function M.run(_, args)
  local found = {}
  for command in string.gmatch(table.concat(commands, ' ') .. ' ' .. args[1], '%S+') do
    if not may(command, args[2]) then found[#found + 1] = command end
  end
  return found
end

return M
