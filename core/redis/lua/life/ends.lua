-- ends - messages that have ended, or live again, and what that is to those that came after them: let go, buried,
-- or held again. What does not fit into one call is left to the next ones.
local M = {}

-- It has ended, or lives again, and those that came after it were not looked at yet.
function M.note(call, id)
  if call.awaited then bell.note_of(call, id) end
  if call.is_ended[id] then return end
  call.is_ended[id] = true
  call.ended[#call.ended + 1] = id
end

function M.read(call, bytes)
  for at = 1, #bytes, 8 do M.note(call, (struct.unpack('<d', bytes, at))) end
end
function M.done(call) call.is_ended[table.remove(call.ended, 1)] = nil end
function M.bytes(call)
  local parts = {}
  for i, id in ipairs(call.ended) do parts[i] = struct.pack('<d', id) end
  return table.concat(parts)
end

return M
