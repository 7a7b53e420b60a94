-- holdings - what a session has, by the word of its client. What the server has of it beyond that, nobody would ever give
-- back: an answer with it was lost, or another server died with the word that it was given back.
local M = {}
local RELEASE = 2  -- Verdict
local MOST = 64    -- leases, of one call

-- What it was given by an answer that it has not heard: nobody runs it.
function M.take_back_unheard(call, heard)
  for _, id in ipairs(sessions.held(call, call.session)) do
    local m = lost.held_one(call, call.session, id)
    if m and m.serial > heard and not m.suspended then messages.judge(call, m, RELEASE, 0, '', 0) end
  end
  local given = sessions.given_for_a_time(call)
  for at = 1, #given, 2 do
    local m = given[at + 1] > heard and messages.held_by(call, given[at], given[at + 1], call.session)
    if m then messages.judge(call, m, RELEASE, 0, '', 0) end
  end
  after.settle(call)
end

local function serials_in(leases)
  local serials = {}
  for at = 1, #leases, 16 do
    local id, serial = struct.unpack('<dd', leases, at)
    serials[id] = serial
  end
  return serials
end

-- `heard`: the serial of the last lease that it was told of; then all that it has. 1: there is more that it has not.
function M.agree(call, heard, leases, its_runs, its_calls)
  local serials, taken = serials_in(leases), 0
  for _, id in ipairs(sessions.held(call, call.session)) do
    local m = lost.held_one(call, call.session, id)
    if m and m.serial <= heard and m.serial ~= serials[id] then
      if taken == MOST then return 1 end
      messages.judge(call, m, RELEASE, 0, '', -1)
      after.settle(call)
      taken = taken + 1
    end
  end
  runs.agree(call, its_runs, its_calls)
  return 0
end

-- It leaves. What it still holds it gives back. 1: there is more.
function M.leave(call)
  local ids = sessions.held(call, call.session, MOST + 1)
  for i = 1, math.min(MOST, #ids) do
    local m = lost.held_one(call, call.session, ids[i])
    if m then messages.judge(call, m, RELEASE, 0, '', -1) end
    after.settle(call)
  end
  if #ids > MOST then return 1 end
  sessions.close(call, call.session)
  return 0
end

-- Its process is dead. What it held comes back, but for these ids, which processes that it left still have ('*': all).
-- 1: there is more.
function M.outlive(call, kept)
  local is_kept, crashed = {}, 0
  for at = 1, kept == '*' and 0 or #kept, 8 do is_kept[struct.unpack('<d', kept, at)] = true end
  for _, id in ipairs(kept == '*' and {} or sessions.held(call, call.session)) do
    local m = not is_kept[id] and lost.held_one(call, call.session, id)
    if m then
      if crashed == MOST then return 1 end
      messages.crash(call, m, messages.DIED, call.now)
      after.settle(call)
      crashed = crashed + 1
    end
  end
  runs.agree(call, '', '')
  sessions.retire(call)
  return 0
end

return M
