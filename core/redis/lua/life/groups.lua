-- groups - another linger or batch: what has gathered by then, and gathers from then on.
local M = {}
-- Ready messages, of one call.
local READY_MOST = 10000
local function has_groups(call, linger, batch)
  return linger == call.settings.linger and batch == call.settings.batch
end
function M.may_set(call, linger, batch)
  return has_groups(call, linger, batch) or call.sums.ready <= READY_MOST
end
function M.set(call, linger, batch)
  if has_groups(call, linger, batch) then return end
  local before = call.settings.linger
  local paths = seats.tenants(call, '')
  settings.change(call, {linger = linger, batch = batch})
  for _, path in ipairs(paths) do
    local n = seats.node(call, path)
    if before == 0 and linger > 0 then
      for _, entry in ipairs(view.all(queues.of(call, path))) do
        local m = store.find(call, queues.id_of(entry[2]))
        if m then queues.note_age(call, m, true) end
      end
    end
    if n.own.blocked then tree.gather(call, n, n.own.since) else messages.gather(call, n) end
    if linger == 0 then queues.forget_ages(call, path) end
  end
end

return M
