-- take - a message of another queue arrives, once: see crossing.lua. args: run, sessions, token, the names of that queue and of
-- this one, its id there, its tenant here, of one with a command what only the client reads here ('': as there), then what it
-- takes with it. reply: head; 'taken' and its id, 'stays' and why, or 'closed': somebody has finished its move.
local M = {}

local function take(call, args)
  local known = uniques.taken(call, args[3])
  if known then return known > 0 and {'taken', text.num(known)} or {'closed'} end
  local parcel = parcels.read(tonumber(args[6]), args[9], args[10], args[11], args[12])
  local id, why, fault = parcels.receive(call, parcel, args[7], args[5], args[4], args[8])
  if fault then return nil, fault end
  if not id then return {'stays', why} end
  uniques.note_taken(call, args[3], id, 0)
  return {'taken', text.num(id)}
end

function M.run(keys, args)
  local call, fault = calls.begin(keys, args[1], args[2])
  if not call then return fault end
  local answer = {}
  if not call.more then
    answer, fault = take(call, args)
    if fault then return fault end
  end
  local head = calls.head(call)
  calls.finish(call)
  return {head, answer}
end

return M
