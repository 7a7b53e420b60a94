-- timetable - what becomes of schedules. args: run, sessions, what, name, version, and what that takes. reply: head, then
-- 'ok', 'again' where another change came first, or 'many'.
local M = {}

-- The arguments of the message stand at the end.
local function pusher(call, args)
  return function(after) return push.one(call, args, #args - 3, after) end
end

local WHATS = {
  -- record, when it is due (-1: never), whether that is told, the tenant of its messages.
  put = function(call, args)
    return schedules.put(call, args[4], tonumber(args[5]), args[6], tonumber(args[7]), args[8] == '1', args[9])
  end,
  remove = function(call, args) return schedules.remove(call, args[4], tonumber(args[5])) end,
  -- until when.
  defer = function(call, args) return schedules.defer(call, args[4], args[6]) end,
  -- time, the next one, when that is due.
  skip = function(call, args)
    return schedules.skip(call, args[4], tonumber(args[5]), tonumber(args[6]), tonumber(args[7]), tonumber(args[8]))
  end,
  -- Likewise, and the message.
  fire = function(call, args)
    return schedules.fire(call, args[4], tonumber(args[5]), tonumber(args[6]), tonumber(args[7]), tonumber(args[8]),
      pusher(call, args))
  end,
  -- now, and the message.
  run = function(call, args) return schedules.run(call, args[4], tonumber(args[5]), tonumber(args[6]), pusher(call, args)) end,
}

function M.run(keys, args) return calls.one_of(WHATS, keys, args) end

return M
