-- places - where messages stand that are not ready: those with a timer, the dead, the held; and all by id.
local M = {}

-- Opened when a call first asks for it.
local function opened(field, suffix)
  return function(call)
    call[field] = call[field] or view.open(call.tag .. suffix, view.by_number)
    return call[field]
  end
end
M.timers = opened('timers', 't')
M.graves = opened('graves', 'd')
M.helds = opened('helds', 'hd')
-- All that have not ended, by id.
M.ids = opened('ids', 'i')

-- See calls.look.
function M.first_grave(call)
  if call.has_none and not call.graves then return nil end
  return view.first(M.graves(call))
end

function M.set_timer(call, m, due)
  if m.timer ~= 0 then view.take(M.timers(call), records.member_of(m)) end
  m.timer = due or 0
  if due then view.put(M.timers(call), due, records.member_of(m)) end
end

function M.write(call)
  for _, each in pairs({call.timers, call.graves, call.helds, call.ids}) do view.write(each) end
end

return M
