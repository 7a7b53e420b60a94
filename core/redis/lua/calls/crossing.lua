-- crossing - the parts of a move to a queue whose keys no call reaches together with these. Each can be repeated.
--
--   send    here: nobody serves it from now on       leave   here: it has gone
--   take    there, see take.lua                      forget  there: nobody asks any more, `done` here likewise
-- Where the first client does not come to its end: `close` there, which tells whether it was taken and sees to it that it is
-- not from now on; then `leave`, or `back`.
-- args: run, sessions, what, and what that takes.
local M = {}
local REMEMBERED = 604800000  -- a token that was closed; a client that was stopped for longer is taken for dead
local LATE = 600000           -- one of a move that is over; a copy of its take that was stuck on its way comes by then, if ever
local CLOSED = -1

local function send(call, m, args)
  local why = parcels.why_it_stays(call, m)
  if why then return {'stays', why} end
  if args[8] ~= '' and not edit.is_as_seen(call, m, args[8]) then return {'again'} end
  local found = parcels.texts(parcels.pack(call, m))
  local at = m.state == records.DELAYED and m.timer or m.since
  crossings.begin(call, m.id, {state = m.state, held_key = m.holds_key, at = at, token = args[5], tag = args[6], queue = args[7]})
  messages.set_out(call, m, args[7])
  return {'sent', unpack(found)}
end

-- The one of that id and token; nil: it is none any more.
local function under_way(call, args)
  local e = crossings.find(call, tonumber(args[4]))
  if e and e.token == args[5] then return e, store.find(call, tonumber(args[4])) end
end

-- They are left to the caller for a while.
local function given_over(call, ids)
  local found = {}
  for i, id in ipairs(ids) do
    found[i] = crossings.told(id, crossings.find(call, id))
    crossings.put_off(call, id)
  end
  return found
end

local CROSSINGS = {
  -- id, token, tag and name of the other queue, then of one with a command what only the client reads as it was seen. reply:
  -- 'sent' and what it takes with it, 'gone', 'stays' and why, 'again', or 'crossing': id, token and tag of an earlier one, and
  -- whether it has left.
  send = function(call, args)
    local id = tonumber(args[4])
    local e, m = crossings.find(call, id), store.find(call, id)
    if e and e.token ~= args[5] then return crossings.told(id, e) end
    if not m then return {'gone'} end
    if not e then return send(call, m, args) end
    local p = parcels.pack(call, m)  -- once more: as it was
    local timer, since = e.state == records.DELAYED and pace.by_clock(call, e.at) or m.timer, e.state == records.READY and e.at or m.since
    p.m = setmetatable({state = e.state, holds_key = e.held_key, timer = timer, since = since, leaving = false}, {__index = m})
    return {'sent', unpack(parcels.texts(p))}
  end,
  -- id, token, id there.
  leave = function(call, args)
    local e, m = under_way(call, args)
    if not e or e.left then return {} end
    if m then messages.depart(call, m, {e.queue, tonumber(args[6])}) end
    crossings.note_left(call, tonumber(args[4]))
    return {}
  end,
  -- id, token: it is served here again, as it was.
  back = function(call, args)
    local e, m = under_way(call, args)
    if not e or e.left then return {} end
    if m then after.turn_back(call, m, e) end
    crossings.drop(call, tonumber(args[4]))
    return {}
  end,
  -- id, token.
  done = function(call, args)
    local e = under_way(call, args)
    if e and e.left then crossings.drop(call, tonumber(args[4])) end
    return {}
  end,
  -- Those that whoever began has not brought to their end; and also those that it is about to.
  due = function(call) return given_over(call, crossings.all_due(call)) end,
  all = function(call) return given_over(call, crossings.all_ids(call)) end,
  -- token: the id that it was taken under; '': it was not.
  close = function(call, args)
    local id = uniques.taken(call, args[4])
    uniques.note_taken(call, args[4], id or CLOSED, call.now + REMEMBERED)
    return {id and id ~= CLOSED and text.num(id) or ''}
  end,
  -- token: one that is closed stays so.
  forget = function(call, args)
    uniques.forget_taken(call, args[4], call.now + LATE)
    return {}
  end,
}

function M.run(keys, args) return calls.one_of(CROSSINGS, keys, args) end

return M
