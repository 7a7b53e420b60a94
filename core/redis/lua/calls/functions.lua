-- functions - the calls that there are. Their names bear the library's: two builds run side by side.
local function register(name, module, flags)
  redis.register_function{function_name = library .. '_' .. name, callback = module.run, flags = flags}
end

register('push', push, {})  -- refused while the server's memory is full
register('import', import, {})
register('make', make, {})
register('whole', whole, {'allow-oom'})
register('move', move, {})
register('take', take, {})
register('crossing', crossing, {'allow-oom'})
register('rename', rename, {'allow-oom'})
register('retitle', retitle, {'allow-oom'})
register('policy', policy, {})
register('step', step, {})
register('pause', step, {'allow-oom'})  -- what of it makes room
register('fire', timetable, {})
register('timetable', timetable, {'allow-oom'})  -- what of it makes no message
register('arrange', timetable, {'allow-oom'})  -- what people have asked for
register('run', run, {})
register('work', work, {'allow-oom'})
register('listen', listen, {'allow-oom'})
register('change', change, {'allow-oom'})
register('order', change, {'allow-oom'})  -- what people have asked for
register('repair', repair, {'allow-oom'})
register('look', look, {'no-writes'})
