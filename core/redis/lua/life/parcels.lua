-- parcels - messages that go to another queue with all that they have: what they take with them, and how they arrive.
local M = {}
local ORDER, MAX_PAYLOAD = 1, 14  -- PolicyKey
local PRIORITY, KEY = 0, 2        -- Order

function M.why_it_stays(here, m)
  if m.state == records.LEASED then return 'is running' end
  if m.state == records.HELD then return 'is held until what it came after has ended' end
  if redis.call('HLEN', here.tag .. 'st:' .. text.num(m.id)) > 0 then return 'has steps, which its job finds in this queue only' end
  return waits.first(here, m.id) and 'others wait for it' or nil
end

-- Of one that is delayed, until when by the clock: where it goes it is another time.
local function as_sent(here, m)
  if not here.pace or m.state ~= records.DELAYED then return m end
  local sent = {}
  for field, value in pairs(m) do sent[field] = value end
  sent.timer = pace.by_clock(here, m.timer)
  return sent
end

-- As it is: the message, what only clients read of it, why its last attempt failed ('': it did not), its key and how long that
-- is held after the ack.
function M.pack(here, m)
  local name, ties = text.num(m.id), store.ties(here, m)
  local rest = redis.call('GETRANGE', here.tag .. 'm:' .. name, records.HEAD_BYTES + #m.path + #m.key, -1)
  return {m = as_sent(here, m), rest = rest, failure = store.failure(here, m),
    key = ties and ties.key or '', unique_for = ties and ties.unique_for or 0}
end
-- The same as texts, and back.
function M.texts(p)
  return {records.head(p.m) .. p.m.path .. p.m.key .. p.rest, p.failure, p.key, text.num(p.unique_for)}
end
function M.read(id, record, failure, key, unique_for)
  local m = records.message(id, record)
  return {m = m, rest = string.sub(record, records.HEAD_BYTES + #m.path + #m.key + 1), failure = failure, key = key,
    unique_for = tonumber(unique_for)}
end

-- A debounce key is of the queue that it was pushed to: nothing replaces it where it goes to.
local function has_key(p) return p.key ~= '' and not p.m.debounced end

-- Why it is not taken, nil: it is. `to`: the queue's name, to be said.
local function objection(there, p, path, to)
  local m, values = p.m, there.settings.values
  local order = values[ORDER] and values[ORDER][1] or PRIORITY
  if m.priority ~= 0 and order ~= PRIORITY then return 'has a priority, which the order of ' .. to .. ' ignores' end
  if m.key ~= '' and order ~= KEY then return 'has a sort key, which the order of ' .. to .. ' ignores' end
  if values[MAX_PAYLOAD] and m.bytes > values[MAX_PAYLOAD][1] then return 'its payload is longer than ' .. to .. ' takes (max_payload)' end
  return has_key(p) and m.holds_key and uniques.holder(there, path, false, p.key) and 'its unique key is in use in ' .. to or nil
end

-- As it was there; what it came after has ended, or it is dead and comes after nothing here.
local function add(there, p, path, from, rest)
  local m = p.m
  local new = messages.add(there, {path = path, key = m.key, rest = rest ~= '' and rest or p.rest, priority = m.priority,
    attempts_max = m.attempts_max, bytes = m.bytes, ttl = m.ttl, keep = m.keep, is_command = m.is_command, delay = 0,
    arrives = true, from = {from, m.id}})
  for _, field in ipairs({'attempts', 'in_force', 'crashes', 'deliveries', 'pushed', 'began', 'pid', 'expired'}) do new[field] = m[field] end
  if p.failure ~= '' then new.failure = p.failure end
  if has_key(p) then
    local own = store.ties(there, new, true)
    own.key, own.unique_for = p.key, p.unique_for
    if m.holds_key then uniques.take(there, new) end
  end
  messages.move_in(there, new, m.state, m.state == records.DELAYED and pace.at(there, m.timer) or m.since)
  return new
end

-- `path`: its tenant there; `rest`: what only clients read of it there ('': as it was). The id; or nil and why it stays; or nil,
-- nil and a fault.
function M.receive(there, p, path, to, from, rest)
  if there.settings.is_draining then return nil, nil, redis.error_reply('FQDRAINING it is') end
  local why = objection(there, p, path, "queue '" .. to .. "'")
  if why then return nil, why end
  terms.meet(there, path)
  amounts.begin(there)
  local new = add(there, p, path, from, rest)
  local refusal = new.state ~= records.DEAD and amounts.refusal(there, path)
  if refusal then return nil, nil, amounts.fault(refusal) end
  return new.id
end

return M
