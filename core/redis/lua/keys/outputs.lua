-- outputs - what the jobs of messages wrote, kept for a while after their end.
local M = {}
local SLACK = 60000  -- the server forgets it itself so long after nobody is told of it any more

-- `bytes`: how long it is kept, and what only the client reads. '': there is none.
function M.time_of(bytes) return bytes ~= '' and struct.unpack('<d', bytes) or 0 end
function M.keep(call, m, bytes)
  if bytes ~= '' then call.outputs[m.id] = bytes end
end

-- nil: there is none, or no more.
function M.read(call, id)
  local bytes = redis.call('GET', call.tag .. 'x:' .. text.num(id))
  if not bytes then return false end
  local until_ = struct.unpack('<d', bytes)
  return until_ > call.now and {text.num(until_ - call.now), string.sub(bytes, 9)} or false
end

function M.write(call)
  for id, bytes in pairs(call.outputs) do
    local kept = struct.unpack('<d', bytes)
    redis.call('SET', call.tag .. 'x:' .. text.num(id), struct.pack('<d', call.now + kept) .. string.sub(bytes, 9),
      'PX', text.num(math.min(kept + SLACK, 4398046511104)))
  end
end

return M
