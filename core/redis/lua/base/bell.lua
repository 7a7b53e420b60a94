-- bell - one that is rung, and what there is to ring for.
local M = {}

-- Something can be taken that could not. Where nobody waits call.opened is false, and that is of no interest.
function M.open(call)
  if call.opened then call.opened = call.opened + 1 end
end

-- Whether that session heard it. Who may not ring is no reason to fail.
function M.ring(call, nonce)
  local heard = redis.pcall('SPUBLISH', call.tag .. 'bell:' .. nonce, '')
  return type(heard) == 'number' and heard > 0
end

return M
