-- rights - what a function's caller may not do of what it needs. args: the commands that clients send themselves, with
-- blanks between. reply: those of them that it may not, and of those that functions call.
--
-- Redis ends a function at what its caller may not do, and what it did before that stays. So whoever lacks one right of
-- those that any of them needs is refused before anything is done: 6 us a call.
local M = {}

-- The first; nil: none. `key`: one of those that it works on.
function M.lacking(key)
  for _, command in ipairs(commands) do
    if not redis.acl_check_cmd(command, key) then return command end
  end
end

function M.run(_, args)
  local found = {}
  for command in string.gmatch(table.concat(commands, ' ') .. ' ' .. args[1], '%S+') do
    if not redis.acl_check_cmd(command) then found[#found + 1] = command end
  end
  return found
end

return M
