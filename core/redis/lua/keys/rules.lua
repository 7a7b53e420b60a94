-- rules - what fq.toml says of tenants by patterns of their names, and over it what was set of each at run time.
--
-- Rules with a plain name are in a hash by it, those with a `*` in a list. Each has its place in the file: of two that
-- match and set the same key the later one holds. `call.rules`: another number with each change, below 0 where there are none.
local M = {}
local MATCHES = 8192  -- patterns that one call holds names against, before it leaves others to the next
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

M.matches = matches

local function longest_piece(pattern)
  local longest = ''
  for piece in string.gmatch(pattern, '[^*]+') do
    if #piece > #longest then longest = piece end
  end
  return longest
end

-- Since a `*` is no slash, a name can match those of as many levels, that begin as it does: by levels, then by how many bytes
-- are before the first `*`, then by these. Each with a part that such a name has: to look for that is much less than to match.
local function levels_of(path) return select(2, string.gsub(path, '/', '')) end
local function patterns(call)
  if call.patterns then return call.patterns end
  local all, by_level = {}, {}
  for _, bytes in ipairs(redis.call('LRANGE', call.tag .. 'rp', 0, -1)) do add_rules(all, bytes) end
  for _, rule in ipairs(all) do
    local start = string.match(rule[2], '^[^*]*')
    local level = levels_of(rule[2])
    by_level[level] = by_level[level] or {}
    local by_start = by_level[level][#start] or {}
    by_level[level][#start] = by_start
    by_start[start] = by_start[start] or {}
    rule[4] = longest_piece(rule[2])
    table.insert(by_start[start], rule)
  end
  call.patterns, call.matched = by_level, 0
  return by_level
end

local function add_matching(call, path, found)
  for bytes, by_start in pairs(patterns(call)[levels_of(path)] or {}) do
    for _, rule in ipairs(by_start[string.sub(path, 1, bytes)] or {}) do
      call.matched = call.matched + 1
      if string.find(path, rule[4], 1, true) and matches(rule[2], path) then found[#found + 1] = rule end
    end
  end
end

-- Whoever else is to be held against patterns can be so in the next call.
function M.have_matched_enough(call) return (call.matched or 0) >= MATCHES end

-- So many tenants are held against patterns by one call at the most, with all above them.
local PAGE, PAGE_LEAST = 256, 8
local function page_of(call)
  local each = 1
  for _, by_bytes in pairs(call.rules > 0 and patterns(call) or {}) do
    for _, by_start in pairs(by_bytes) do
      local most = 0
      for _, rules_of_start in pairs(by_start) do most = math.max(most, #rules_of_start) end
      each = each + most
    end
  end
  return math.max(PAGE_LEAST, math.min(PAGE, math.floor(MATCHES / each)))
end

-- What holds for a tenant: values by key. `set`: what was set at run time, where that is another than is kept.
function M.of(call, path, set)
  local values, found = {}, {}
  if call.rules > 0 then
    add_rules(found, redis.call('HGET', call.tag .. 'rx', path) or '')
    add_matching(call, path, found)
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
  local changes = math.abs(call.rules) + 1
  call.rules, call.patterns = at <= #args and changes or -changes, nil
  redis.call('HSET', call.root, 'rules', call.rules)
end

-- A page of those who are there, and where the next one begins ('': it is the last): first those that had messages,
-- then those of which something was set, of which one may be told twice.
function M.tenants(call, from)
  local kind, behind, found, count = string.sub(from, 1, 1), string.sub(from, 2), {}, page_of(call)
  if kind ~= 's' then
    local first = behind == '' and '-' or '(' .. behind
    found = redis.call('ZRANGEBYLEX', call.tag .. 'cn', first, '+', 'LIMIT', 0, count)
    return found, #found == count and 'm' .. found[count] or 's'
  end
  local set, next_page = M.overrides(call, behind, count)
  for i = 1, #set, 2 do found[#found + 1] = set[i] end
  return found, next_page ~= '' and 's' .. next_page or ''
end

-- A page of what was set of tenants at run time, and where the next one begins ('': nowhere; it is where the first does): paths
-- and values one after the other. They are in no order, and one may be in two pages.
function M.overrides(call, from, count)
  local page = redis.call('HSCAN', call.tag .. 'ov', from == '' and '0' or from, 'COUNT', count or PAGE)
  return page[2], page[1] ~= '0' and page[1] or ''
end

return M
