-- use - that this library is used, and when: by which those that nobody uses any more are found, see old_libraries.h.
--
-- In each hour the first who calls in a shard is told to note it. And who asks is told when anybody called the last time, whatever
-- the prefix and the database, as far as this server knows since it was started or took over. That lies between calls in the
-- library and in no key, so it costs a call nothing to speak of; what a call does never depends on it.
local M = {}
local HOUR = 3600000
local hour, noted, used = nil, {}, nil  -- noted: by root, in that hour

-- Whether the caller is to note it.
function M.hint(root, clock)
  used = clock
  local now = math.floor(clock / HOUR)
  if now ~= hour then hour, noted = now, {} end
  if noted[root] then return 0 end
  noted[root] = true
  return 1
end

-- args: what the server's clock says. reply: when it was used; the first question counts as a use where there was none.
function M.run(_, args)
  used = used or tonumber(args[1])
  return text.num(used)
end

return M
