-- places - where messages stand that are not ready: those with a timer, the dead, the held; and all by id.
local M = {}

local function no_order() return nil end
-- Ids as members: equal times go by id.
function M.name_of(id) return struct.pack('>I8', id) end

function M.timers(call)
  call.timers = call.timers or view.open(call.tag .. 't', no_order)
  return call.timers
end
function M.graves(call)
  call.graves = call.graves or view.open(call.tag .. 'd', no_order)
  return call.graves
end
function M.helds(call)
  call.helds = call.helds or view.open(call.tag .. 'hd', no_order)
  return call.helds
end
-- All that have not ended, by id.
function M.ids(call)
  call.ids = call.ids or view.open(call.tag .. 'i', no_order)
  return call.ids
end

function M.set_timer(call, m, due)
  if m.timer ~= 0 then view.take(M.timers(call), M.name_of(m.id)) end
  m.timer = due or 0
  if due then view.put(M.timers(call), due, M.name_of(m.id)) end
end

function M.write(call)
  for _, each in pairs({call.timers, call.graves, call.helds, call.ids}) do view.write(each) end
end

return M
