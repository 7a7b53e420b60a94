-- push - puts messages. args: run, then for each its tenant, fields, key and the rest.
local M = {}

function M.run(keys, args)
  local call, fault = calls.begin(keys, args[1])
  if not call then return fault end
  local reply = {calls.head(call)}
  if not call.more then
    for at = 2, #args, 4 do reply[#reply + 1] = messages.add(call, args[at], args[at + 1], args[at + 2], args[at + 3]) end
  end
  calls.finish(call)
  return reply
end

return M
