-- rules - what fq.toml says of tenants by patterns of their names, and over it what was set of each at run time.
--
-- Rules with a plain name are in a hash by it, those with a `*` in a list. Each has its place in the file: of two that
-- match and set the same key the later one holds.
local M = {}
local RULE = '<dHH'  -- place, bytes of the pattern (0 where it is a plain name), bytes of the values; then both

local function rule_bytes(place, pattern, values)
  return struct.pack(RULE, place, #pattern, #values) .. pattern .. values
end

-- Adds those that lie one behind the other.
local function add_rules(found, bytes)
  local at = 1
  while at <= #bytes do
    local place, pattern_bytes, values_bytes, from = struct.unpack(RULE, bytes, at)
    at = from + pattern_bytes + values_bytes
    found[#found + 1] = {place, string.sub(bytes, from, from + pattern_bytes - 1), string.sub(bytes, from + pattern_bytes, at - 1)}
  end
end

-- As core/base/text/pattern.cpp has it: `*` is any number of characters but '/'.
local STAR, SLASH = 42, 47
local function matches(pattern, name)
  local p, n, star, resume = 1, 1, nil, nil
  while n <= #name do
    local byte = string.byte(pattern, p)
    if byte == STAR then
      star, resume, p = p, n, p + 1
    elseif byte == string.byte(name, n) then
      p, n = p + 1, n + 1
    elseif star and string.byte(name, resume) ~= SLASH then
      resume, p = resume + 1, star + 1
      n = resume
    else
      return false
    end
  end
  while string.byte(pattern, p) == STAR do p = p + 1 end
  return p > #pattern
end

local function patterns(call)
  if not call.patterns then
    call.patterns = {}
    for _, bytes in ipairs(redis.call('LRANGE', call.tag .. 'rp', 0, -1)) do add_rules(call.patterns, bytes) end
  end
  return call.patterns
end

-- What holds for a tenant: values by key. `set`: what was set at run time, where that is another than is kept.
function M.of(call, path, set)
  local values, found = {}, {}
  if call.rules > 0 then
    add_rules(found, redis.call('HGET', call.tag .. 'rx', path) or '')
    for _, rule in ipairs(patterns(call)) do
      if matches(rule[2], path) then found[#found + 1] = rule end
    end
    table.sort(found, function(a, b) return a[1] < b[1] end)
  end
  for _, rule in ipairs(found) do records.add_policy(values, rule[3]) end
  return records.add_policy(values, set or redis.call('HGET', call.tag .. 'ov', path) or '')
end

-- These there are from now on: pattern and values one after the other, args from `at` on.
function M.set(call, args, at)
  local plain, starred = {}, {}
  for i = at, #args, 2 do
    local pattern, values = args[i], args[i + 1]
    if string.find(pattern, '*', 1, true) then
      starred[#starred + 1] = rule_bytes(i, pattern, values)
    else
      plain[pattern] = (plain[pattern] or '') .. rule_bytes(i, '', values)
    end
  end
  redis.call('UNLINK', call.tag .. 'rx', call.tag .. 'rp')
  local fields = {}
  for name, bytes in pairs(plain) do fields[#fields + 1], fields[#fields + 2] = name, bytes end
  text.call('HSET', call.tag .. 'rx', fields)
  text.call('RPUSH', call.tag .. 'rp', starred)
  call.rules, call.patterns = #args - at + 1, nil
  redis.call('HSET', call.root, 'rules', call.rules)
end

-- A page of those who are there, and where the next one begins ('': it is the last): first those that had messages,
-- then those of which something was set, of which one may be told twice.
local PAGE = 256
function M.tenants(call, from)
  local kind, behind, found = string.sub(from, 1, 1), string.sub(from, 2), {}
  if kind ~= 's' then
    local first = behind == '' and '-' or '(' .. behind
    found = redis.call('ZRANGEBYLEX', call.tag .. 'cn', first, '+', 'LIMIT', 0, PAGE)
    return found, #found == PAGE and 'm' .. found[PAGE] or 's'
  end
  local set, next_page = M.overrides(call, behind)
  for i = 1, #set, 2 do found[#found + 1] = set[i] end
  return found, next_page ~= '' and 's' .. next_page or ''
end

-- A page of what was set of tenants at run time, and where the next one begins ('': nowhere; it is where the first does): paths
-- and values one after the other. They are in no order, and one may be in two pages.
function M.overrides(call, from)
  local page = redis.call('HSCAN', call.tag .. 'ov', from == '' and '0' or from, 'COUNT', PAGE)
  return page[2], page[1] ~= '0' and page[1] or ''
end

return M
