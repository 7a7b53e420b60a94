-- places - where messages stand that are not ready: those with a timer, the dead, the held; and all by id.
local M = {}

local function no_order() return nil end
-- Ids as members: equal times go by id.
function M.name_of(id) return struct.pack('>I8', id) end

-- Opened when a call first asks for it.
local function opened(field, suffix)
  return function(call)
    call[field] = call[field] or view.open(call.tag .. suffix, no_order)
    return call[field]
  end
end
M.timers = opened('timers', 't')
M.graves = opened('graves', 'd')
M.helds = opened('helds', 'hd')
-- All that have not ended, by id.
M.ids = opened('ids', 'i')

function M.set_timer(call, m, due)
  if m.timer ~= 0 then view.take(M.timers(call), M.name_of(m.id)) end
  m.timer = due or 0
  if due then view.put(M.timers(call), due, M.name_of(m.id)) end
end

function M.write(call)
  for _, each in pairs({call.timers, call.graves, call.helds, call.ids}) do view.write(each) end
end

return M
