-- text - numbers as Redis has to be told them, bytes in order, and what texts begin with.
local M = {}

M.NONCE_BYTES = 11  -- of a session: lists of them are one behind the other, and members of sets begin with one
M.NO_NONCE = '           '

-- `..` writes what is above 10^14 as 1.2345678901234e+14: every id, tag and time goes through here. Whole numbers are written
-- in half the time as such. An argument of redis.call by itself may be a number: there the server writes all its digits. One
-- that is always the same is a text, which costs nothing.
local EXACT = 9007199254740992
function M.num(x)
  if x % 1 == 0 and x < EXACT and x > -EXACT then return string.format('%d', x) end
  return string.format('%.0f', x)
end

-- The number of eight bytes that a member of a zset has from there on; 0, which no message has: it is damaged.
function M.number_in(member, from)
  return from > 0 and #member >= from + 7 and (struct.unpack('>I8', member, from)) or 0
end

-- Bytes as memcmp has them and as a zset orders its members; `<` would go by the server's locale.
function M.before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- Whether a tenant is that one, or lies below it; '': all do.
function M.is_at_or_below(path, top)
  return top == '' or path == top or string.sub(path, 1, #top + 1) == top .. '/'
end

-- unpack() fails at some 8,000 values, so what may be long goes in pieces; of pairs none is cut. Returns the last answer.
local PIECE = 2000
local function call_with(name, key, values, from, to)
  if key then return redis.call(name, key, unpack(values, from, to)) end
  return redis.call(name, unpack(values, from, to))
end
function M.call(name, key, values)
  local count, answer = #values, nil
  if count == 0 then return nil end
  if count <= PIECE then return call_with(name, key, values, 1, count) end
  for from = 1, count, PIECE do answer = call_with(name, key, values, from, math.min(from + PIECE - 1, count)) end
  return answer
end

return M
