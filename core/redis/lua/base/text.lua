-- text - numbers as Redis has to be told them, and bytes in order.
local M = {}

-- `..` writes what is above 10^14 as 1.2345678901234e+14: every id, tag and time goes through here. Whole numbers are written
-- in half the time as such.
local EXACT = 9007199254740992
function M.num(x)
  if x % 1 == 0 and x < EXACT and x > -EXACT then return string.format('%d', x) end
  return string.format('%.0f', x)
end

-- Bytes as memcmp has them and as a zset orders its members; `<` would go by the server's locale.
function M.before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- unpack() fails at some 8,000 values, so what may be long goes in pieces; of pairs none is cut. Returns the last answer.
local PIECE = 2000
function M.call(name, key, values)
  local count, answer = #values, nil
  for from = 1, count, PIECE do
    local to = from + PIECE - 1
    if to > count then to = count end
    if key then
      answer = redis.call(name, key, unpack(values, from, to))
    else
      answer = redis.call(name, unpack(values, from, to))
    end
  end
  return answer
end

return M
