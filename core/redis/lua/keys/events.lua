-- events - what happened to messages, in order. One entry of a stream holds all of one call.
--
-- An event: its kind, when it was, the message; serial, until, due and expires, as far as they say something (0:
-- not); the process that holds it, the nonce; the tenant, and behind a byte that says what it is the rest: why
-- an attempt failed, the tags of what was changed, kind, bytes and name of a step,
-- of a schedule a time, what became of that, and the name, of what was set the keys that are so no more and the values, of another queue the id there, its name, and the tags of what
-- came from it, or of what was pushed the values that its turn rests on, and its tags.
-- core/redis/records/event_records.h is its twin.
local M = {}
local EVENT = '<BddddddI4c11BHc0I4c0'
local KINDS = {pushed = 1, leased = 2, extended = 3, acked = 4, retried = 5, released = 6, buried = 7, expired = 8,
  cancelled = 9, kicked = 10, freed = 11, replaced = 12, edited = 13, stepped = 14, unstepped = 15, scheduled = 16,
  unscheduled = 17, skipped = 18, left = 19, arrived = 20, died = 21, leaving = 22, set = 23}
local NOTHING, FAILURE, TAGS, STEP, SCHEDULE, ELSEWHERE, PUSHED, SET = 0, 1, 2, 3, 4, 5, 6, 7
-- How many bytes its payload and its sort key have, its priority, and how many it waits for; the key; then of each of
-- these its id, and whether any end will do.
local VALUES, WAIT = '<I4Bi4H', '<dB'
local PAGE = 64            -- entries of a reply, and bytes of which no more follow
local PAGE_BYTES = 4194304

-- Tags, and which call or schedule made it, of the block that the rest of a message begins with.
local function tags_of(rest) return blocks.without_command(blocks.of(rest)) end

local function values_of(m, waits)
  local head = struct.pack(VALUES, m.bytes, #m.key, m.priority, #waits) .. m.key
  if #waits == 0 then return head end
  local parts = {head}
  for _, each in ipairs(waits) do parts[#parts + 1] = struct.pack(WAIT, each.id, each.any and 1 or 0) end
  return table.concat(parts)
end

-- `more`: until, due, expires, failure, rest, step, schedule, set, elsewhere, waits: what of these the kind has.
local NO_MORE = {}
function M.note(call, m, kind, more)
  more = more or NO_MORE
  if call.awaited then bell.note(call, 'l', m) end
  local what, tail = NOTHING, ''
  if more.failure then what, tail = FAILURE, more.failure end
  if more.rest then what, tail = TAGS, tags_of(more.rest) end
  if more.waits then what, tail = PUSHED, values_of(m, more.waits) .. tail end
  if more.step then what, tail = STEP, more.step end
  if more.schedule then what, tail = SCHEDULE, more.schedule end
  if more.set then what, tail = SET, more.set end
  if more.elsewhere then
    local queue, id = unpack(more.elsewhere)
    what, tail = ELSEWHERE, struct.pack('<dH', id, #queue) .. queue .. tail
  end
  call.events[#call.events + 1] = struct.pack(EVENT, KINDS[kind], call.now, m.id, m.serial, more.until_ or 0,
    more.due or 0, more.expires or 0, more.pid or 0, m.nonce, what, #m.path, m.path, #tail, tail)
end

-- Likewise, of no message.
function M.note_of(call, path, kind, more) M.note(call, {id = 0, serial = 0, nonce = text.NO_NONCE, path = path}, kind, more) end

-- Of so long ago all are told; nil: what the root says of it is no time. Nothing may be thrown away by that.
function M.horizon(told)
  if told == '' then return usual_events_ms end
  local ms = #told < 16 and string.find(told, '^%d+$') and tonumber(told)
  return ms and ms > 0 and ms or nil
end

local function oldest(call) return math.max(0, call.now - (call.horizon or usual_events_ms)) end
function M.write(call)
  if #call.events == 0 then return end
  redis.call('XADD', call.tag .. 'e', 'MINID', '~', oldest(call), text.num(call.now) .. '-*', 'e', table.concat(call.events))
end

-- Many of those that are told no more go, also where nothing happens any more. Answers how many.
function M.drop_many(call) return redis.call('XTRIM', call.tag .. 'e', 'MINID', '~', oldest(call)) end

-- A page of entries behind `from`, an id of the stream or '-'.
function M.read(call, from)
  local found, bytes = {}, 0
  local first = from == '-' and '-' or '(' .. from
  for _, entry in ipairs(redis.call('XRANGE', call.tag .. 'e', first, '+', 'COUNT', PAGE)) do
    bytes = bytes + #entry[2][2]
    if bytes > PAGE_BYTES and #found > 0 then break end
    found[#found + 1] = {entry[1], entry[2][2]}
  end
  return found
end

return M
