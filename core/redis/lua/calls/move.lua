-- move - a message goes to another queue with all that it has, in one call: at any time it is in one of the two.
-- keys: of this queue, then of the other. args: run, sessions, the names of both queues, its tenant there ('': as here),
-- id, then of one with a command what only the client reads as it was seen and as it has to be there ('': as here).
-- reply: head; 'moved' and its id there, 'gone', 'stays' and why, or 'again': others have changed it.
local M = {}
local ORDER, MAX_PAYLOAD = 1, 14  -- PolicyKey
local PRIORITY, KEY = 0, 2        -- Order

local function why_it_stays(here, m)
  if m.state == records.LEASED then return 'is running' end
  if m.state == records.HELD then return 'is held until what it came after has ended' end
  if redis.call('HLEN', here.tag .. 'st:' .. text.num(m.id)) > 0 then return 'has steps, which its job finds in this queue only' end
  return waits.first(here, m.id) and 'others wait for it' or nil
end

local function objection(there, m, path, key, to)
  local values = there.settings.values
  local order = values[ORDER] and values[ORDER][1] or PRIORITY
  if m.priority ~= 0 and order ~= PRIORITY then return 'has a priority, which the order of ' .. to .. ' ignores' end
  if m.key ~= '' and order ~= KEY then return 'has a sort key, which the order of ' .. to .. ' ignores' end
  if values[MAX_PAYLOAD] and m.bytes > values[MAX_PAYLOAD][1] then return 'its payload is longer than ' .. to .. ' takes (max_payload)' end
  return m.holds_key and uniques.holder(there, path, m.debounced, key) and 'its unique key is in use in ' .. to or nil
end

-- As it is here; what it came after has ended, or it is dead and comes after nothing there.
local function arrive(here, there, m, path, from, rest)
  local name = text.num(m.id)
  if rest == '' then rest = redis.call('GETRANGE', here.tag .. 'm:' .. name, records.HEAD_BYTES + #m.path + #m.key, -1) end
  local new = messages.add(there, {path = path, key = m.key, rest = rest, priority = m.priority, attempts_max = m.attempts_max,
    bytes = m.bytes, ttl = m.ttl, keep = m.keep, is_command = m.is_command, delay = 0, arrives = true, from = {from, m.id}})
  for _, field in ipairs({'attempts', 'in_force', 'crashes', 'deliveries', 'pushed', 'began', 'debounced'}) do new[field] = m[field] end
  new.failure = m.failure or redis.call('GET', here.tag .. 'f:' .. name) or nil
  local ties = store.ties(here, m)
  if ties and ties.key ~= '' then
    local own = store.ties(there, new, true)
    own.key, own.unique_for = ties.key, ties.unique_for
    if m.holds_key then uniques.take(there, new) end
  end
  messages.arrive(there, new, m.state, m.state == records.DELAYED and m.timer or m.since)
  return new
end

local function move(here, there, args)
  local from, to, m = args[3], args[4], store.find(here, tonumber(args[6]))
  if not m then return {'gone'} end
  local why = why_it_stays(here, m)
  if why then return {'stays', why} end
  if args[7] ~= '' and not edit.is_as_seen(here, m, args[7]) then return {'again'} end
  if there.settings.is_draining then return nil, redis.error_reply('FQDRAINING it is') end
  local path, ties = args[5] ~= '' and args[5] or m.path, store.ties(here, m)
  why = objection(there, m, path, ties and ties.key or '', "queue '" .. to .. "'")
  if why then return {'stays', why} end
  terms.meet(there, path)
  amounts.begin(there)
  local new = arrive(here, there, m, path, from, args[8])
  local refusal = new.state ~= records.DEAD and amounts.refusal(there, path)
  if refusal then return nil, amounts.fault(refusal) end
  messages.depart(here, m, {to, new.id})
  return {'moved', text.num(new.id)}
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
  calls.finish(here)
  calls.finish(there)
  return {head, answer}
end

return M
