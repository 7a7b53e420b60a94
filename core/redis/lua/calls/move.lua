-- move - a message goes to another queue with all that it has, in one call: at any time it is in one of the two.
-- keys: of this queue, then of the other. args: run, sessions, the names of both queues, its tenant there ('': as here),
-- id, then of one with a command what only the client reads as it was seen and as it has to be there ('': as here).
-- reply: head; 'moved' and its id there, 'gone', 'stays' and why, 'again': others have changed it, or 'crossing', as of
-- crossing.lua.
local M = {}

local function move(here, there, args)
  local from, to, id = args[3], args[4], tonumber(args[6])
  local m, earlier = store.find(here, id), crossings.find(here, id)
  if earlier then return crossings.told(id, earlier) end
  if not m then return {'gone'} end
  local why = parcels.why_it_stays(here, m)
  if why then return {'stays', why} end
  if args[7] ~= '' and not edit.is_as_seen(here, m, args[7]) then return {'again'} end
  local path = args[5] ~= '' and args[5] or m.path
  local id_there, objection, fault = parcels.receive(there, parcels.pack(here, m), path, to, from, args[8])
  if fault then return nil, fault end
  if not id_there then return {'stays', objection} end
  messages.note_leaving(here, m, to)
  messages.depart(here, m, {to, id_there})
  return {'moved', text.num(id_there)}
end

function M.run(keys, args)
  local here, fault = calls.begin(keys, args[1], args[2])
  if not here then return fault end
  local there, fault_there = calls.begin({keys[3], keys[4]}, args[1], args[2])
  if not there then return fault_there end
  here.more = here.more or there.more
  local answer = {}
  if not here.more then
    answer, fault = move(here, there, args)
    if fault then return fault end
  end
  local head = calls.head(here)
  calls.finish(there)  -- first: where that cannot be written it has not left here
  calls.finish(here)
  return {head, answer}
end

return M
