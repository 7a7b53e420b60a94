-- text - numbers as Redis has to be told them, and bytes in order.
local M = {}

-- `..` writes what is above 10^14 as 1.2345678901234e+14: every id, tag and time goes through here.
function M.num(x) return string.format('%.0f', x) end

-- Bytes as memcmp has them and as a zset orders its members; `<` would go by the server's locale.
function M.before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- unpack() fails at some 8,000 values, so what may be long goes in pieces; of pairs none is cut.
local PIECE = 2000
function M.call(name, key, values)
  for from = 1, #values, PIECE do
    local to = math.min(from + PIECE - 1, #values)
    if key then redis.call(name, key, unpack(values, from, to)) else redis.call(name, unpack(values, from, to)) end
  end
end

return M
