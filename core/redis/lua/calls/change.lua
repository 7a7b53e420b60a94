-- change - cancels and kicks by id, and what is set. args: run, sessions, what, and what that takes.
local M = {}

-- state (-1: any), ids. 'crossing': it is on its way to another queue; whoever looked for a state finds none. What that makes
-- of others, which may be among them, comes when each of them is what it was told to be.
local function each(call, args, change)
  local answers, state = {}, tonumber(args[4])
  for at = 5, #args do
    local id = tonumber(args[at])
    local m = store.find(call, id)
    if m and state >= 0 and (m.state ~= state or m.leaving) then
      answers[#answers + 1] = 'stale'
    else
      answers[#answers + 1] = m and (m.leaving and 'crossing' or change(call, m)) or 'gone'
    end
  end
  return answers
end

local function cancel(call, m)
  messages.cancel(call, m)
  return 'ok'
end

local function kick(call, m)
  if m.state ~= records.DEAD and m.state ~= records.DELAYED then return 'stale' end
  after.kick(call, m)
  return 'ok'
end

local function kick_fresh(call, m)
  if m.state ~= records.DEAD and m.state ~= records.DELAYED then return 'stale' end
  steps.forget(call, m)
  return kick(call, m)
end

local LIMITED = 24  -- PolicyKey

-- A layer after a patch: values that hold from now on, and keys that do not any more.
local function patched(bytes, set, unset)
  local values = records.add_policy(records.add_policy({}, bytes), set)
  for i = 1, #unset do values[string.byte(unset, i)] = nil end
  return records.policy_bytes(values)
end

-- So long from now is until then.
local function until_of(call, set)
  local values = records.add_policy({}, set)
  if values[LIMITED] then values[LIMITED][1] = call.now + values[LIMITED][1] end
  return records.policy_bytes(values)
end

local function note_set(call, path, set, unset)
  events.note_of(call, path, 'set', {set = struct.pack('<H', #unset) .. unset .. set})
end

-- Why these cannot hold, by what it would take; nil: they can.
local function refusal_of(call, new)
  if not ranks.may_set(call, new.ranked) then return 'ranks' end
  if not terms.may_set_fair_by(call, new.fair_by) then return 'many' end
  if not groups.may_set(call, new.linger, new.batch) then return 'ready' end
end

-- What holds at the top of the tree, after one of its layers changed.
local function put_together(call, file, set)
  local new = settings.of(file, set)
  local refusal = refusal_of(call, new)
  if refusal then return refusal end
  ranks.set(call, new.ranked)
  terms.set_fair_by(call, new.fair_by)
  groups.set(call, new.linger, new.batch)
  terms.set_queue(call, new.values)
  awaited.widen(call)
  redis.call('HSET', call.root, 'file', file or '', 'set', set or '')
  return 'ok'
end

-- The same of what is set at run time, as of this version: of many shards of a queue one that was away has an earlier one.
local function set_queue(call, file, set, version, before)
  local said = put_together(call, file, set)
  if said == 'ok' and version > (before or '') then redis.call('HSET', call.root, 'set_at', version) end
  return said
end

-- Of two that put one in at the same time only the later one may say whose it is.
local function mark_of_file(call) return tostring(math.abs(call.rules)) end

-- The same of a file, as of CHANGES.file, and of all its rules.
local function refusal_of_file(call, args)
  local refusal, limits = refusal_of(call, settings.of(args[4], redis.call('HGET', call.root, 'set'))), {}
  if refusal then return refusal end
  for at = 6 + 2 * tonumber(args[5]), #args, 2 do
    if amounts.are_limits(records.add_policy({}, args[at + 1])) then limits[#limits + 1] = args[at] end
  end
  for _, path in ipairs(#limits > 0 and amounts.unlimitable(call) or {}) do
    for _, pattern in ipairs(limits) do
      if rules.matches(pattern, path) then return 'below' end
    end
  end
end

local CHANGES = {
  edit = edit.run,
  cancel = function(call, args) return each(call, args, cancel) end,
  kick = function(call, args) return each(call, args, kick) end,
  kick_fresh = function(call, args) return each(call, args, kick_fresh) end,
  -- The layer of the policy file: values, how many pools, of each name and values, then of each rule pattern and values.
  -- It is of no file until all tenants follow it: where the next page of them begins, '': that is done; and its mark.
  -- Nothing is done of one that a tenant cannot follow.
  file = function(call, args)
    local said = refusal_of_file(call, args) or put_together(call, args[4], redis.call('HGET', call.root, 'set'))
    if said ~= 'ok' then return {said} end
    redis.call('HSET', call.root, 'identity', '')
    local all, at, had_rules = {}, 6, call.rules > 0
    for _ = 1, tonumber(args[5]) do all[args[at]], at = records.add_policy({}, args[at + 1]), at + 2 end
    terms.set_pools(call, all)
    rules.set(call, args, at)
    return {said, (had_rules or call.rules > 0) and 'm' or '', mark_of_file(call)}
  end,
  -- The same file, of which nothing is done: what that would say.
  may_file = function(call, args) return {refusal_of_file(call, args) or 'ok'} end,
  -- Where a page of them begins, the mark. Likewise; 'other': another one came since, and goes on by itself.
  follow = function(call, args)
    if args[5] ~= mark_of_file(call) then return {'other', ''} end
    local paths, next_page = rules.tenants(call, args[4])
    if not terms.follow(call, paths) then return {'below'} end
    return {'ok', next_page}
  end,
  -- identity, mark: it is of that file. Likewise. Its text lies with the prefix alone; earlier builds had it here, too.
  loaded = function(call, args)
    if args[5] ~= mark_of_file(call) then return {'other'} end
    redis.call('HSET', call.root, 'identity', args[4])
    redis.call('HDEL', call.root, 'text')
    return {'ok'}
  end,
  -- What is set at run time of the queue, and what is so no more; 1: this shard tells of it; the version, '': it has none.
  set = function(call, args)
    local layers = redis.call('HMGET', call.root, 'file', 'set', 'set_at')
    local said = set_queue(call, layers[1], patched(layers[2] or '', args[4], args[5]), args[7], layers[3])
    if said == 'ok' and args[6] == '1' then note_set(call, '', args[4], args[5]) end
    return {said}
  end,
  -- All of that as another shard has it, and the version. Nothing is done where this one has a later one.
  follow_set = function(call, args)
    local layers = redis.call('HMGET', call.root, 'file', 'set_at')
    if args[5] <= (layers[2] or '') then return {'ok'} end
    return {set_queue(call, layers[1], args[4], args[5], layers[2])}
  end,
  -- What is set of a tenant, and what is so no more.
  tenant = function(call, args)
    local path, set = args[4], until_of(call, args[5])
    local before = redis.call('HGET', call.tag .. 'ov', path) or ''
    local bytes = patched(before, set, args[6])
    local values = rules.of(call, path, bytes)
    if not amounts.may_set(call, path, values) then return {'below'} end
    if bytes == '' then
      redis.call('HDEL', call.tag .. 'ov', path)
    else
      redis.call('HSET', call.tag .. 'ov', path, bytes)
    end
    terms.set_tenant(call, path, values)
    if set ~= '' or before ~= '' then note_set(call, path, set, args[6]) end
    awaited.widen(call)
    return {'ok'}
  end,
  -- Many of what nobody needs go: tenants that have nothing, keys whose time is over, the oldest of what is told of and too
  -- much, events of long ago. Answers 0 where there was nothing for that.
  forget = function(call)
    return {idle.look_at_many(call) + uniques.sweep_many(call) + (told.drop_many(call) and 1 or 0) + events.drop_many(call)}
  end,
  -- pid, slots, messages of a job, host: it is a worker, and lives.
  attend = function(call, args)
    sessions.attend(call, tonumber(args[4]), tonumber(args[5]), tonumber(args[6]), args[7])
    return {}
  end,
  -- The worker is stopped, and lives.
  stopped = function(call)
    sessions.stop(call)
    return {}
  end,
  -- number, pid: somebody is about to push a message with this call.
  call = function(call, args) return {runs.begin_call(call, args[4], tonumber(args[5])) and 1 or 0} end,
  end_call = function(call, args)
    runs.end_call(call, args[4])
    return {}
  end,
  -- id, delivery, call, whether that is waited for, pid.
  run_open = function(call, args)
    runs.open(call, args[4], args[5], args[6], args[7], tonumber(args[8]))
    return {}
  end,
  -- id, delivery, bytes of each channel that were lost: nothing more comes.
  run_close = function(call, args)
    local name = runs.name_of(args[4], args[5])
    runs.lose(call, name, 'o', tonumber(args[6]))
    runs.lose(call, name, 'e', tonumber(args[7]))
    runs.close(call, name)
    return {}
  end,
  run_leave = function(call, args)
    runs.leave(call, runs.name_of(args[4], args[5]), 1)
    return {}
  end,
  -- id, delivery, places: its caller has read what is before them.
  run_read = function(call, args)
    runs.note_read(call, runs.name_of(args[4], args[5]), {args[6], args[7]})
    return {}
  end,
  -- id, delivery: its caller has read all of it.
  run_drop = function(call, args)
    runs.drop(call, runs.name_of(args[4], args[5]))
    return {}
  end,
  -- Of a limit over shards: see purse.lua. What it was lent is told as in the root.
  purse = purse.ask,
  -- name, an epoch: it is of that from now on.
  lent_join = function(call, args)
    local age, tag = struct.unpack('<dd', args[5])
    shares.join(call, args[4], age, tag)
    return {shares.bytes(call, '')}
  end,
  -- loans.
  lent_take = function(call, args)
    lent.take_all(call, args[4], 1)
    return {shares.bytes(call, '')}
  end,
  -- name, an epoch, a loan that comes too late if it comes: what it does not use it has no more.
  lent_give = function(call, args)
    local age, tag = struct.unpack('<dd', args[5])
    shares.give(call, args[4], age, tag, tonumber(args[6]))
    return {shares.bytes(call, '')}
  end,
  -- All that it was lent is forgotten, but for what it uses.
  lent_forget = function(call)
    shares.reset(call)
    return {}
  end,
  -- The serial of the last lease that it heard of, then leases, runs and calls: it has these. 1: it is to say so again.
  holds = function(call, args) return {holdings.agree(call, tonumber(args[4]), args[5], args[6], args[7])} end,
  -- ids: see holdings.outlive. 1: likewise.
  died = function(call, args) return {holdings.outlive(call, args[4])} end,
  -- Likewise.
  leave = function(call) return {holdings.leave(call)} end,
}

-- What a session says of itself, its runs and what it holds by living: nothing that is due changes those.
local OF_SESSIONS = {attend = true, stopped = true, call = true, end_call = true, run_open = true, run_close = true,
  run_leave = true, run_read = true, run_drop = true, holds = true, died = true, leave = true}

function M.run(keys, args) return calls.one_of(CHANGES, keys, args, OF_SESSIONS) end

return M
