-- repair - what check finds is made to agree again, by what the records of messages say. What is due is left to others.
-- args: run, sessions, what, and what that takes. reply: head; what was done, and what else that answers.
local M = {}
local PAGE = 256
local SUMS = {'ready', 'delayed', 'leased', 'held', 'dead', 'returning', 'bytes'}  -- what is counted, and can be anew

local function told_of(id, what) return 'message ' .. text.num(id) .. ': ' .. what end

-- Whether nothing would ever take it from where it is.
local function is_lost(call, m)
  if m.leaving then return not crossings.find(call, m.id) end
  if m.state == records.DELAYED then return m.timer == 0 end
  if m.state == records.LEASED then return m.timer == 0 and not m.living end
  if m.state ~= records.HELD then return false end
  for _, wait in ipairs(m.is_tied and store.ties(call, m).waits or {}) do
    if not wait.closed and store.state(call, wait.id) ~= nil then return false end
  end
  return true
end

-- args: ids. Each is in the places that its record names, and in no other. Answers how many of them are done.
local function mend_messages(call, args)
  local done, at = {}, 3
  repeat
    at = at + 1
    local m = store.find(call, tonumber(args[at]))
    if m and is_lost(call, m) then
      if m.state ~= records.DEAD then m.state, m.timer, m.living = records.DELAYED, call.now, false end
      m.leaving = false
      redis.call('SETRANGE', call.tag .. 'm:' .. text.num(m.id), 0, records.head(m))
      done[#done + 1] = told_of(m.id, m.state == records.DEAD and 'was on no way to another queue' or 'was in no place; it is ready')
    end
    for _, place in ipairs(m and check.places_of(call, m) or {}) do
      local key, member, score, what = call.tag .. place[1], place[2], place[3], place[4]
      if tonumber(redis.call('ZSCORE', key, member) or nil) ~= score then
        if score then redis.call('ZADD', key, text.num(score), member) else redis.call('ZREM', key, member) end
        done[#done + 1] = told_of(m.id, 'is ' .. records.STATES[m.state] .. ', and ' .. what .. ' says so again')
        -- It has heard nothing of that one's end.
        local awaited_id = place[5]
        if awaited_id and store.has_ended(store.state(call, awaited_id)) then ends.note(call, awaited_id) end
      end
    end
    -- Of a session that nobody knows of the end is never noticed.
    if m and m.living and not redis.call('ZSCORE', call.tag .. 's', m.nonce) then
      redis.call('ZADD', call.tag .. 's', text.num(call.now), m.nonce)
      done[#done + 1] = told_of(m.id, 'is held by a session that is not there; it comes back')
    end
  until at == #args or check.has_seen_enough(call)
  redis.call('HSET', call.root, 'ended', ends.bytes(call))  -- the next call lets those go
  return {done, at - 3}
end

local NAMES = {t = 'the timetable', d = 'the dead letters', hd = 'what is held', i = 'the index', lv = 'what is held by living'}

-- args: a place, from where on. Whoever it names and has no record goes. Answers where the next page begins ('': nowhere).
local function mend_place(call, args)
  local key, from, done, gone = call.tag .. args[4], tonumber(args[5]), {}, 0
  local page = redis.call('ZRANGE', key, from, from + PAGE - 1)
  for _, member in ipairs(page) do
    local id = queues.id_of(member)
    local m = store.find(call, id)
    local is_ready = m and m.state == records.READY and args[4] == 'q:' .. m.path and select(2, queues.place_of(m)) == member
    if not m or (string.sub(args[4], 1, 2) == 'q:' and not is_ready) then
      redis.call('ZREM', key, member)
      gone = gone + 1
      done[#done + 1] = (NAMES[args[4]] or 'a queue') .. ': named message ' .. text.num(id) .. 
        (m and ', which is not ready' or store.is_unreadable(call, id) and ', whose record cannot be read' or ', which is not there')
    end
  end
  return {done, #page == PAGE and text.num(from + PAGE - gone) or ''}
end

-- args: ids. Answers how many changes there were, and of each tenant what is counted, by these.
local function count(call, args)
  local tenants, found = {}, {}
  for at = 4, #args do
    local m = store.find(call, tonumber(args[at]))
    if m then
      local sums = tenants[m.path] or {0, 0, 0, 0, 0, 0, 0}
      tenants[m.path] = sums
      sums[m.state + 1] = sums[m.state + 1] + 1
      if m.state == records.DELAYED and m.deliveries > 0 then sums[6] = sums[6] + 1 end
      if m.state ~= records.DEAD then sums[7] = sums[7] + m.bytes + m.step_bytes end
    end
  end
  for path, sums in pairs(tenants) do found[#found + 1] = {path, struct.pack('<ddddddd', unpack(sums))} end
  return {{}, text.num(call.ops), found}
end

local function put_sums(sums, bytes)
  local changed, values = false, {struct.unpack('<ddddddd', bytes)}
  for i, name in ipairs(SUMS) do
    changed = changed or sums[name] ~= values[i]
    sums[name] = values[i]
  end
  return changed
end

-- args: how many changes there were, what is counted of all, then path and what is counted of each tenant. Answers whether
-- there were no more changes; else nothing was done.
local function write_counts(call, args)
  if text.num(call.ops) ~= args[4] then return {{}, 0} end
  local done = {}
  if put_sums(call.sums, args[5]) then done[1] = 'the queue: counts the messages that there are' end
  redis.call('HSET', call.root, 'sums', records.sums_bytes(call.sums))
  for at = 6, #args, 2 do
    local path, own = args[at], sums.of_tenant(call, args[at])
    if put_sums(own, args[at + 1]) then
      done[#done + 1] = 'tenant ' .. path .. ': counts the messages that it has'
      redis.call('SET', call.tag .. 'c:' .. path, records.tenant_sums_bytes(own))
    end
    if redis.call('ZADD', call.tag .. 'cn', 0, path) == 1 then done[#done + 1] = 'tenant ' .. path .. ': is among the tenants again' end
  end
  return {done, 1}
end

local function title(path) return path == '' and 'the queue' or 'tenant ' .. path end

-- What holds for a node that was lost, and a clock that is not behind those that sit in this ring of it.
local function make_node(call, n, key)
  n.is_new = false
  if n.path == '' then terms.set_queue(call, call.settings.values) else terms.set_tenant(call, n.path, rules.of(call, n.path)) end
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  n.vtime = tonumber(first[2] or 0)
end

-- args: a ring, from where on. Whoever is in that sits there, by its own record, else it goes; what is not in it and
-- should be is seen to with its own node. Answers where the next page begins ('': nowhere).
local function mend_ring(call, args)
  local path, set = rings.parse(args[4])
  local n, from, gone, joins = seats.node(call, path), tonumber(args[5]), {}, 0
  local key = rings.key(call, path, set)
  local page = redis.call('ZRANGE', key, from, from + PAGE - 1, 'WITHSCORES')
  for i = 1, #page, 2 do
    local child = seats.child(call, n, page[i])
    if child and child.stands[set] and child.tag == tonumber(page[i + 1]) and seats.seq_of(page[i]) == child.seq then
      joins = math.max(joins, child.seq + 1)
    else
      gone[#gone + 1] = page[i]
    end
  end
  text.call('ZREM', key, gone)
  if joins > 0 and n.is_new then
    idle.mend(call, n)
    make_node(call, n, key)
  end
  if joins > n.joins then n.joins, n.changed = joins, true end
  local is_known = set == '' or (n.sets and n.sets[set])
  local counts = not n.is_new and (#gone > 0 or not is_known)
  if counts then
    rings.count_anew(call, n, {[set] = true})
    seats.stand(call, n)
  end
  return {(counts or #gone > 0) and {title(n.path) .. ': its ring has those that sit there'} or {},
    #page == 2 * PAGE and text.num(from + PAGE - #gone) or ''}
end

local function mend_node(call, path)
  local n, own = seats.node(call, path), nil
  own = n.own
  idle.mend(call, n)
  if n.is_new then make_node(call, n, rings.key(call, path, '')) end
  terms.mend(call, n)
  local ready, runs = redis.call('ZCARD', call.tag .. 'q:' .. path), sums.of_tenant(call, path).leased
  own.count, own.run = ready, runs
  for name, is_in in pairs({tn = ready > 0, rn = runs > 0}) do
    if is_in then redis.call('ZADD', call.tag .. name, 0, path) else redis.call('ZREM', call.tag .. name, path) end
  end
  n.run, n.changed = seats.runs_below(call, n), true
  rings.count_anew(call, n)
  if path ~= '' then
    local p = seats.above(call, n)
    rings.count_anew(call, p, n.stands)
    if not rings.is_well(call, n, p) then rings.drop(call, n, p) end
  end
  tree.mend(call, n)
  seats.settle(call, own, n)
  if path ~= '' then seats.settle(call, n, seats.node(call, seats.parent_of(path))) end
end

-- args: paths of tenants, the deepest first. The first that does not sit where it should does. Answers how many of them are
-- done; what is behind that one is for the next call, which sees what this one has written.
local function mend_nodes(call, args)
  for at = 4, #args do
    local path = args[at]
    local is_well = #check.faults_of(call, path) == 0
    if not is_well then mend_node(call, path) end
    if not is_well or rules.have_matched_enough(call) then
      return {is_well and {} or {title(path) .. ': has its turns by what it has ready, and by what is set'}, at - 3}
    end
  end
  return {{}, #args - 3}
end

-- What sits below the root of one of several shards is weighed anew, by which clients come: mending a seat or a ring counts what was
-- counted. args: how many changes there were, from where on, and what was weighed before. Answers these for the next call, which begins
-- where there were others meanwhile; '': it is done.
local function weigh(call, args)
  if call.step == 1 then return {{}, ''} end
  local is_same, n = args[4] == text.num(call.ops), seats.node(call, '')
  local from, sum = is_same and tonumber(args[5]) or 0, is_same and tonumber(args[6]) or 0
  local page = rings.page(call, n, from, PAGE)
  for _, each in ipairs(page) do
    local child = seats.child(call, n, each[1])
    if child and rings.is_first_of(child, each[2]) then sum = sum + child.weight end
  end
  if #page == PAGE then return {{}, text.num(call.ops), text.num(from + PAGE), text.num(sum)} end
  redis.call('HSET', call.root, 'weight', text.num(sum))
  return {sum ~= call.weight and {'the queue: comes by the weight of what sits in it'} or {}, ''}
end

-- What limits count, from there on; behind the last one pools, and places by rank. Answers where the next page begins ('':
-- nowhere).
local function mend_limits(call, args)
  local done = {}
  local mended, from = amounts.mend(call, sums.of_tenant, args[4])
  for _, path in ipairs(mended) do done[#done + 1] = 'tenant ' .. path .. ': its limit counts what it has' end
  if from ~= '0' then return {done, from} end
  local running = {}
  for _, path in ipairs(seats.running(call)) do
    local n = seats.node(call, path)
    for _, name in ipairs(seats.pools_of(call, n)) do running[name] = (running[name] or 0) + n.own.run end
  end
  for _, name in ipairs(pools.wrong(call, running)) do done[#done + 1] = 'pool ' .. name .. ': counts what runs in it' end
  if pools.any(call) then terms.count_pools(call) end
  for _, name in ipairs(shares.wrong(call)) do done[#done + 1] = shares.title(name) .. ': its shard is lent what it uses' end
  shares.counted(call)
  if call.ranked and ranks.may_set(call, false) then ranks.mend(call) end
  return {done, ''}
end

-- args: names of limits over shards that have a purse here. Answers how many of them were looked at.
local function mend_purses(call, args)
  local done = {}
  for i = 4, #args do
    if not call.lent[args[i]] then
      redis.call('UNLINK', lent.purse_key(call, args[i]))
      done[#done + 1] = 'purse ' .. args[i] .. ': its limit is none any more; it is gone'
    end
  end
  return {done, #args - 3}
end

local REPAIRS = {messages = mend_messages, place = mend_place, count = count, write_counts = write_counts,
  ring = mend_ring, nodes = mend_nodes, weight = weigh, limits = mend_limits, purses = mend_purses}
local CHANGES_TURNS = {ring = true, nodes = true, limits = true}

function M.run(keys, args)
  local call, fault = calls.look(keys)
  if not call then return fault end
  call.session = string.sub(args[2], 1, text.NONCE_BYTES)
  local head = calls.head(call)
  local answer = REPAIRS[args[3]](call, args)
  if CHANGES_TURNS[args[3]] then calls.finish(call) end
  return {head, answer}
end

return M
