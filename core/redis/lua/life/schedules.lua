-- schedules - messages that are made at times. A client tells from a spec and a zone what the times are; here it is
-- kept what they have come to, and each is accounted for once.
--
--   sd  a hash of them, by name        si  their names        sn  when those are due that are
-- One: its version, which another change has not; its rules for what was missed and for overlaps, whether it is paused, of
-- the policy file, and found no room; what became of its last time, and when that was; its last message; its next time;
-- up to when all is accounted for; from where it counts. Behind that is what only clients read. Times are wall times.
local M = {}
local HEAD = '<dBBBBBBddddd'
local HEAD_BYTES = 54
local MOST = 65536
local PAGE = 16  -- of one look for those that are due
local CLOCK_WRONG = 86400000  -- a clock that is set back by more was wrong: see core/base/clock.h
local QUEUE, CANCEL = 1, 2           -- OverlapRule
local MADE, OVERLAP, MISSED = 1, 2, 3  -- Occurrence

local function read(bytes)
  local s = {}
  s.version, s.missed, s.overlap, s.paused, s.of_file, s.refused, s.last, s.last_at, s.last_id, s.next, s.done, s.begun =
    struct.unpack(HEAD, bytes)
  s.rest = string.sub(bytes, HEAD_BYTES + 1)
  return s
end
local function bytes_of(s)
  return struct.pack(HEAD, s.version, s.missed, s.overlap, s.paused, s.of_file, s.refused, s.last, s.last_at, s.last_id, s.next,
    s.done, s.begun) .. s.rest
end

local function wall_of(call) return pace.clock(call) + time.ahead(call.root) end

-- By the wall clock; nil: none is due.
local function first(call)
  if call.schedules == 0 then return nil end
  if call.looked_at_anew then return 0 end
  local found = redis.call('ZRANGE', call.tag .. 'sn', 0, 0, 'WITHSCORES')
  return found[2] and tonumber(found[2])
end

-- By the time of the shard; math.huge: none is.
function M.due(call)
  local wall = first(call)
  return wall and pace.at(call, wall - time.ahead(call.root)) or math.huge
end
function M.is_due(call) return (first(call) or math.huge) <= wall_of(call) end

-- Some of many times that have passed, and then what is there is served before the next: else who has slept for a month would
-- keep everybody from work until all is made up for. The root counts them from one call that was served to the next.
local FIRST = 64
function M.go_first(call) return M.is_due(call) and call.before.made < FIRST end
function M.were_first(call)
  if call.before.made > 0 then call.made = 0 end
end
local function note_time(call) call.made = call.before.made + 1 end

-- The clock went back: those are looked at that may have gone on by a clock that was wrong, and a client tells their times anew.
function M.follow_clock(call)
  if call.schedules == 0 or not pace.is_found(call) or pace.lead(call) <= CLOCK_WRONG then return end
  local late = redis.call('ZRANGEBYSCORE', call.tag .. 'sn', text.num(wall_of(call) + CLOCK_WRONG), '+inf')
  if #late > 0 then call.looked_at_anew = late end
end
local function look_at_anew(call)
  local words = {}
  for _, name in ipairs(call.looked_at_anew or {}) do words[#words + 1], words[#words + 2] = text.num(wall_of(call)), name end
  text.call('ZADD', call.tag .. 'sn', words)
end

-- nil: it is not there any more, or another change came first.
local function find(call, name, version)
  local bytes = redis.call('HGET', call.tag .. 'sd', name)
  local s = bytes and read(bytes) or nil
  return s and s.version == version and s or nil
end

-- It is written by write(). `due`: -1: never.
local function change(call, name, s, due, kind, at, why, tenant)
  s.version = call.ops + 1
  call.schedule_changes[#call.schedule_changes + 1] = {name, s, due}
  if kind then
    events.note_of(call, tenant or '', kind, {schedule = struct.pack('<dBH', at, why, #name) .. name})
  end
end

-- The whole record in the place of the one of that version (0: of none); `told`: that is worth an event, with its tenant.
function M.put(call, name, version, bytes, due, told, tenant)
  local before = redis.call('HGET', call.tag .. 'sd', name)
  if (before and read(before).version or 0) ~= version then return {'again'} end
  if not before and redis.call('HLEN', call.tag .. 'sd') >= MOST then return {'many'} end
  change(call, name, read(bytes), due, told and 'scheduled' or nil, 0, 0, tenant)
  return {'ok'}
end

function M.remove(call, name, version)
  local s = find(call, name, version)
  if not s then return {'again'} end
  s.gone = true
  change(call, name, s, -1, 'unscheduled', 0, 0)
  return {'ok'}
end

-- Nobody can tell its times now; it is asked for again then.
function M.defer(call, name, due)
  redis.call('ZADD', call.tag .. 'sn', 'XX', due, name)
  return {'ok'}
end

-- The time `at` has passed, and makes nothing.
function M.skip(call, name, version, at, next, due)
  local s = find(call, name, version)
  if not s then return {'again'} end
  note_time(call)
  s.last, s.last_at, s.done, s.next, s.refused = MISSED, at, at, next, 0
  change(call, name, s, due, 'skipped', at, MISSED)
  return {'ok'}
end

-- It makes a message, or is passed over for one that is unfinished. `push(after)`: puts the message, or nil and why not.
function M.fire(call, name, version, at, next, due, push)
  local s = find(call, name, version)
  if not s then return {'again'} end
  note_time(call)
  local state, after = s.last_id ~= 0 and store.state(call, s.last_id) or nil, nil
  if state and not store.has_ended(state) then
    if s.overlap == QUEUE then
      after = {{id = s.last_id, any = true}}
    elseif s.overlap == CANCEL then
      messages.cancel(call, store.find(call, s.last_id))
    else
      s.last, s.last_at, s.done, s.next, s.refused = OVERLAP, at, at, next, 0
      change(call, name, s, due, 'skipped', at, OVERLAP)
      return {'ok'}
    end
  end
  local id, fault = push(after)
  if not id then return nil, fault end
  s.last, s.last_at, s.last_id, s.done, s.next, s.refused = MADE, at, id, at, next, 0
  change(call, name, s, due)
  return {'ok', text.num(id)}
end

-- It makes one now, beside its times.
function M.run(call, name, version, at, push)
  local s = find(call, name, version)
  if not s then return {'again'} end
  local id, fault = push()
  if not id then return nil, fault end
  s.last, s.last_at, s.last_id = MADE, at, id
  change(call, name, s)
  return {'ok', text.num(id)}
end

-- Names and records of those that are due, the first ones.
function M.all_due(call)
  local found = {}
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', call.tag .. 'sn', '-inf', text.num(wall_of(call)), 'LIMIT', 0, PAGE)) do
    found[#found + 1] = {name, redis.call('HGET', call.tag .. 'sd', name)}
  end
  return found
end
-- Of those behind a name.
function M.page(call, from, n)
  local found = {}
  for _, name in ipairs(redis.call('ZRANGEBYLEX', call.tag .. 'si', from == '' and '-' or '(' .. from, '+', 'LIMIT', 0, n)) do
    found[#found + 1] = {name, redis.call('HGET', call.tag .. 'sd', name)}
  end
  return found
end
function M.get(call, name)
  local bytes = redis.call('HGET', call.tag .. 'sd', name)
  return bytes and {{name, bytes}} or {}
end
-- How many there are, and when the first is due by the wall clock (-1: never).
function M.count(call)
  local first = redis.call('ZRANGE', call.tag .. 'sn', 0, 0, 'WITHSCORES')
  return {redis.call('ZCARD', call.tag .. 'si'), first[2] or '-1'}
end

function M.write(call)
  look_at_anew(call)
  for _, each in ipairs(call.schedule_changes) do
    local name, s, due = each[1], each[2], each[3]
    if s.gone then
      redis.call('HDEL', call.tag .. 'sd', name)
      redis.call('ZREM', call.tag .. 'si', name)
    else
      redis.call('HSET', call.tag .. 'sd', name, bytes_of(s))
      redis.call('ZADD', call.tag .. 'si', 0, name)
    end
    if due and due >= 0 then redis.call('ZADD', call.tag .. 'sn', text.num(due), name) end
    if due and due < 0 then redis.call('ZREM', call.tag .. 'sn', name) end
  end
  if #call.schedule_changes > 0 then
    call.schedules = redis.call('HLEN', call.tag .. 'sd')
    redis.call('HSET', call.root, 'schedules', call.schedules)
  end
end

return M
