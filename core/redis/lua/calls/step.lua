-- step - what a job does under its receipt. args: run, sessions, what, id, serial, nonce, name, and what that takes.
-- reply: head, then what became of it.
local M = {}

local function receipt_of(args) return {id = tonumber(args[4]), serial = tonumber(args[5]), nonce = args[6]} end

local STEPS = {
  -- token, pid.
  begin = function(call, args) return steps.begin(call, receipt_of(args), args[7], args[8], tonumber(args[9])) end,
  -- output.
  keep = function(call, args) return steps.keep(call, receipt_of(args), args[7], args[8]) end,
  -- tenant, fields, sort key, rest.
  push = function(call, args)
    return steps.push(call, receipt_of(args), args[7], function() return push.one(call, args, 8) end)
  end,
  -- token.
  leave = function(call, args) return steps.leave(call, args[4], args[7], args[8]) end,
  -- delay (-1: none), until when.
  sleep = function(call, args)
    local delay = tonumber(args[8])
    return steps.sleep(call, receipt_of(args), args[7], delay >= 0 and call.now + delay or pace.at(call, tonumber(args[9])))
  end,
  -- Whether all are meant that its steps have pushed; else ids.
  wait = function(call, args)
    local ids = nil
    if args[8] ~= 'all' then
      ids = {}
      for at = 9, #args do ids[#ids + 1] = tonumber(args[at]) end
    end
    return steps.wait(call, receipt_of(args), args[7], ids)
  end,
}

function M.run(keys, args) return calls.one_of(STEPS, keys, args) end

return M
