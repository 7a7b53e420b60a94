-- time - the server's, in milliseconds; no caller's clock is asked.
local M = {}

function M.read(root)
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

-- How far the wall clock is ahead of that one.
function M.ahead() return 0 end

return M
