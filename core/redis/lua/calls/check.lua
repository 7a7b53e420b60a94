-- check - that what lies in the keys of a shard agrees. A call looks at some messages or nodes as they are now.
local M = {}
local PLACES = 2048  -- of messages, in one call: some 8 ms

local function score(call, key, member) return tonumber(redis.call('ZSCORE', call.tag .. key, member) or nil) end

-- Of a message the places where it can be: key, member, the score that it has to have there (nil: it is not to be there),
-- and what that is called; of what it is held for also that id.
function M.places_of(call, m)
  local name = struct.pack('>I8', m.id)
  local rank, member = queues.place_of(m)
  local has = function(state, value) return m.state == state and value or nil end
  local places = {
    {'q:' .. m.path, member, has(records.READY, rank), 'its queue'},
    {'t', name, m.timer ~= 0 and m.timer or nil, 'the timetable'},
    {'d', name, has(records.DEAD, not m.leaving and m.since or nil), 'the dead letters'},
    {'hd', name, has(records.HELD, 0), 'what is held'},
    {'i', name, m.id, 'the index'},
    {'lv', name, m.living and 0 or nil, 'what is held by living'},
    {'l:' .. m.nonce, name, m.living and 0 or nil, 'what its session holds'},
  }
  for _, wait in ipairs(m.state == records.HELD and m.is_tied and store.ties(call, m).waits or {}) do
    local id = text.num(wait.id)
    if not wait.closed then places[#places + 1] = {'w:' .. id, name, wait.began, 'what is held for message ' .. id, wait.id} end
  end
  call.places = (call.places or 0) + #places
  return places
end
-- Which other messages have theirs is for the next call.
function M.has_seen_enough(call) return (call.places or 0) >= PLACES end

-- Each that is named from there on, until that is enough for one call. Returns how many it was.
local function each(args, is_enough, look_at)
  local done = 0
  repeat
    done = done + 1
    look_at(args[done + 1])
  until done >= #args - 1 or is_enough()
  return done
end

-- Whether what only the client reads is as long as it says.
local function is_whole(call, m)
  local key, from = call.tag .. 'm:' .. text.num(m.id), records.HEAD_BYTES + #m.path + #m.key
  local size = redis.call('GETRANGE', key, from, from + 3)
  return #size == 4 and redis.call('STRLEN', key) == from + 4 + struct.unpack('<I4', size) + m.bytes
end

-- A state and what is wrong with it, or nothing where there is no such message any more.
local function message(call, id)
  local m = store.find(call, id)
  if not m then return nil end
  local faults = {}
  for _, place in ipairs(M.places_of(call, m)) do
    if score(call, place[1], place[2]) ~= place[3] then
      faults[#faults + 1] = 'message ' .. text.num(id) .. ': is ' .. records.STATES[m.state] .. ', and ' .. place[4] ..
        ' says something else'
    end
  end
  if not is_whole(call, m) then faults[#faults + 1] = 'message ' .. text.num(id) .. ': its payload cannot be read' end
  if m.leaving and not crossings.find(call, id) then
    faults[#faults + 1] = 'message ' .. text.num(id) .. ': is on its way to another queue, and it is not known to which'
  end
  return m.state, faults, m
end

-- ids. reply: how many changes there were; how many of these there are by state; what is wrong; of each tenant the same
-- by state, and bytes of those that are not dead; how many of the ids it was.
function M.messages(call, args)
  local states, faults, tenants, found = {0, 0, 0, 0, 0}, {}, {}, {}
  local done = each(args, function() return M.has_seen_enough(call) end, function(id)
    local state, wrong, m = message(call, tonumber(id))
    if state then
      states[state + 1] = states[state + 1] + 1
      local tenant = tenants[m.path] or {0, 0, 0, 0, 0, 0}
      tenants[m.path] = tenant
      tenant[state + 1] = tenant[state + 1] + 1
      if state ~= records.DEAD then tenant[6] = tenant[6] + m.bytes + m.step_bytes end
    end
    for _, fault in ipairs(wrong or {}) do faults[#faults + 1] = fault end
  end)
  for path, tenant in pairs(tenants) do found[#found + 1] = {path, struct.pack('<dddddd', unpack(tenant))} end
  return {text.num(call.ops), states, faults, found, done}
end

-- from: a place in the index, and the id there. reply: likewise, of those that the index names behind that and that have no
-- record, and at last where the next page begins ('': nowhere). What ends meanwhile takes nobody out of a page.
local PAGE = 512
function M.index(call, args)
  local faults, at, last = {}, string.match(args[2], '^(%S+) (%d+)$')
  local page = pages.behind(call.tag .. 'i', at or '-inf', tonumber(last or 0), PAGE)
  for _, each in ipairs(page) do
    local id = each[2]
    if not store.find(call, id) then
      local is_there = store.is_unreadable(call, id)
      faults[#faults + 1] = 'message ' .. text.num(id) .. ': its record ' .. (is_there and 'cannot be read' or 'is missing')
    end
  end
  local tail = page[PAGE]
  return {text.num(call.ops), {}, faults, {}, tail and tail[1] .. ' ' .. text.num(tail[2]) or ''}
end

-- What of it does not agree with its ring, with that of its parent, and with what it has ready.
function M.faults_of(call, path)
  local n, ready, faults = seats.node(call, path), redis.call('ZCARD', call.tag .. 'q:' .. path), {}
  if n.own.count ~= ready then faults[#faults + 1] = 'counts other ready messages than its queue has' end
  if not rings.are_counted(call, n) then faults[#faults + 1] = 'counts others than its ring has' end
  if (n.own.seated or false) ~= (n.own.count > 0 and not n.own.blocked) then faults[#faults + 1] = 'its own messages sit where they should not' end
  if n.own.run ~= sums.of_tenant(call, path).leased then faults[#faults + 1] = 'counts others that run than are leased' end
  if n.run ~= seats.runs_below(call, n) then faults[#faults + 1] = 'counts other runs than there are at and below it' end
  if not terms.is_well(call, n) then faults[#faults + 1] = 'has another weight or limit than is set' end
  if not seats.is_listed(call, n) then faults[#faults + 1] = 'is not listed by what it has' end
  for _, fault in ipairs(tree.faults_of(call, n)) do faults[#faults + 1] = fault end
  if call.ranked and not ranks.is_well(call, n) then faults[#faults + 1] = 'stands by rank where it should not' end
  if path == '' then return faults end
  for _, fault in ipairs(idle.faults_of(call, n)) do faults[#faults + 1] = fault end
  local sits = seats.count_of(n) > 0 and not n.blocked
  if (n.seated or false) ~= sits or not rings.is_well(call, n, seats.above(call, n)) then
    faults[#faults + 1] = 'sits where it should not'
  end
  return faults
end

-- paths. reply: likewise, without states; and how many of them it was.
function M.nodes(call, args)
  local faults = {}
  local done = each(args, function() return rules.have_matched_enough(call) end, function(path)
    for _, fault in ipairs(M.faults_of(call, path)) do
      faults[#faults + 1] = (path == '' and 'the queue' or 'tenant ' .. path) .. ': ' .. fault
    end
  end)
  return {text.num(call.ops), {}, faults, {}, done}
end

-- Names of limits over shards that have a purse here. reply: as of messages.
function M.purses(call, args)
  local faults = {}
  local done = each(args, function() return false end, function(name)
    if not call.lent[name] then faults[#faults + 1] = 'purse ' .. name .. ': its limit is none any more' end
  end)
  return {text.num(call.ops), {}, faults, {}, done}
end

-- What is kept of limits, a page of those of tenants, behind the last one what counts in all. from. reply: as of the index,
-- then what was not looked at.
function M.limits(call, args)
  local faults, running, remarks = {}, {}, {}
  local wrong, from, in_use = amounts.wrong(call, sums.of_tenant, args[2])
  for i, path in ipairs(in_use) do remarks[i] = 'the queue was in use: what the limit of tenant ' .. path .. ' counts was not looked at' end
  for _, path in ipairs(wrong) do
    faults[#faults + 1] = 'tenant ' .. path .. ': its limit counts other messages or bytes than it has'
  end
  if from ~= '0' then return {text.num(call.ops), {}, faults, {}, from, remarks} end
  for _, path in ipairs(seats.running(call)) do
    local n = seats.node(call, path)
    for _, name in ipairs(seats.pools_of(call, n)) do running[name] = (running[name] or 0) + n.own.run end
  end
  for _, name in ipairs(pools.wrong(call, running)) do
    faults[#faults + 1] = 'pool ' .. name .. ': counts others than run in it'
  end
  for _, name in ipairs(shares.wrong(call)) do
    faults[#faults + 1] = shares.title(name) .. ': uses more of its limit than this shard was lent'
  end
  return {text.num(call.ops), {}, faults, {}, '', remarks}
end

return M
