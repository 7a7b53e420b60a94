-- functions - the calls that there are. Their names bear the library's: two builds run side by side.
local function register(name, run, flags)
  redis.register_function{function_name = library .. '_' .. name, callback = run, flags = flags}
end
local function register_change(name, module, flags)
  register(name, function(keys, args)
    local command = rights.lacking(keys[1])
    if command then return redis.error_reply('FQRIGHT ' .. command) end
    return module.run(keys, args)
  end, flags)
end

register_change('push', push, {})  -- refused while the server's memory is full
register_change('import', import, {})
register_change('make', make, {})
register_change('whole', whole, {'allow-oom'})
register_change('copied', copied, {'allow-oom'})
register_change('move', move, {})
register_change('take', take, {})
register_change('crossing', crossing, {'allow-oom'})
register_change('rename', rename, {'allow-oom'})
register_change('retitle', retitle, {'allow-oom'})
register_change('policy', policy, {})
register_change('shorten', {run = policy.shorten}, {'allow-oom'})
register_change('step', step, {})
register_change('pause', step, {'allow-oom'})  -- what of it makes room
register_change('fire', timetable, {})
register_change('timetable', timetable, {'allow-oom'})  -- what of it makes no message
register_change('arrange', timetable, {'allow-oom'})  -- what people have asked for
register_change('run', run, {})
register_change('work', work, {'allow-oom'})
register_change('listen', listen, {'allow-oom'})
register_change('change', change, {'allow-oom'})
register_change('order', change, {'allow-oom'})  -- what people have asked for
register_change('repair', repair, {'allow-oom'})
register('look', look.run, {'no-writes'})
-- changes nothing, and is refused where a push is: so the server says what it would answer to one
register('rights', rights.run, {})
register('used', use.run, {'no-writes'})
