-- ends - messages that have ended, or live again, and what that is to those that came after them: let go, buried,
-- or held again. What does not fit into one call is left to the next ones.
local M = {}
local STEPS = 1024  -- of one call, however often that settles

-- `from`: the first that is not done; those before it stay, since to move all others up is as long as they are many.
function M.none() return {from = 1, steps = STEPS} end

-- It has ended, or lives again, and those that came after it were not looked at yet.
function M.note(call, id)
  if call.awaited then bell.note_of(call, id) end
  if call.is_ended[id] then return end
  call.is_ended[id] = true
  call.ended[#call.ended + 1] = id
end
-- It has ended; most are awaited by no message, nor was one told of them when they were dead.
function M.note_end(call, id)
  if waits.first(call, id) or waits.first_told(call, id) then return M.note(call, id) end
  if call.awaited then bell.note_of(call, id) end
end

-- nil: none is left.
function M.first(call) return call.ended[call.ended.from] end
-- Whether one more thing may be done in this call.
function M.may_go_on(call) return call.ended.steps > 0 end
function M.count_step(call) call.ended.steps = call.ended.steps - 1 end

function M.read(call, bytes)
  for at = 1, #bytes, 8 do M.note(call, (struct.unpack('<d', bytes, at))) end
end
function M.done(call)
  local ended = call.ended
  call.is_ended[ended[ended.from]] = nil
  ended.from, ended.steps = ended.from + 1, ended.steps - 1
end
function M.bytes(call)
  local parts, ended = {}, call.ended
  for i = ended.from, #ended do parts[#parts + 1] = struct.pack('<d', ended[i]) end
  return table.concat(parts)
end

return M
