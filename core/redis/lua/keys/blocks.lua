-- blocks - of what only the client reads of a message the part before its payload: tags, and what is said of its job.
-- core/redis/records/records.cpp is its twin.
local M = {}
local HAS_TIMEOUT, HAS_COMMAND, HAS_CALL, HAS_SCHEDULE = 1, 2, 4, 8

-- Of what cannot be read: it has no tags, and runs nothing.
local NOTHING = '\0\0\0'

local function has(flags, bit) return math.floor(flags / bit) % 2 == 1 end

-- Where so many texts end that begin there.
local function behind_texts(block, at, count)
  for _ = 1, count do at = at + 2 + struct.unpack('<H', block, at) end
  return at
end

-- Where its flags are, what they are, and where its command begins, if it has one.
local function read(block)
  local flags_at = behind_texts(block, 3, 2 * struct.unpack('<H', block))
  local flags = struct.unpack('<B', block, flags_at)
  local at = flags_at + 1 + (has(flags, HAS_TIMEOUT) and 8 or 0) + (has(flags, HAS_CALL) and 8 or 0)
  if has(flags, HAS_SCHEDULE) then at = behind_texts(block, at + 8, 1) end
  return flags_at, flags, at
end

local function without_command(block)
  local flags_at, flags, at = read(block)
  if not has(flags, HAS_COMMAND) then return block end
  return string.sub(block, 1, flags_at - 1) .. string.char(flags - HAS_COMMAND) .. string.sub(block, flags_at + 1, at - 1)
end

local function without_variables(block)
  local _, flags, at = read(block)
  if not has(flags, HAS_COMMAND) then return block end
  at = behind_texts(block, at + 2, struct.unpack('<H', block, at) + 1)  -- its words, and where it runs
  return string.sub(block, 1, at - 1) .. struct.pack('<H', 0)
end

local function less(block, take)
  if block == NOTHING then return block end
  local is_read, rest = pcall(take, block)
  return is_read and rest or NOTHING
end

-- That part of it, whose length comes first; '': it cannot be read.
function M.of(rest) return #rest >= 4 and string.sub(rest, 5, 4 + struct.unpack('<I4', rest)) or '' end

-- What is told of it in events: they are kept longer than the variables of its command, which may be secrets.
function M.without_command(block) return less(block, without_command) end
-- What is kept of it after its end.
function M.without_variables(block) return less(block, without_variables) end

return M
