-- costs - what a turn costs: one, by the bytes of the payload, or by the time of the run, in ticks of 10 us.
local M = {}
M.TURN = 2520000000
local PIECE = M.TURN / 64   -- of 64 bytes: 4 KiB are a turn
M.TICK = M.TURN / 1000      -- 10 ms are a turn
local TICKS_LEAST = 50
M.FORGOTTEN = 60000         -- ms without a run, after which nobody knows how long one takes
M.TURNS, M.BYTES, M.TIME = 0, 1, 2  -- FairBy

-- How far so many ticks move the tag of a seat. The product of a long time is split: above 2^53 it would be rounded.
function M.turn_of_ticks(s, ticks)
  local whole = math.floor(ticks / s.weight)
  return whole * M.TICK + math.floor((ticks - whole * s.weight) * M.TICK / s.weight)
end

-- How many ticks move it by no more than this.
function M.ticks_within(s, turn)
  local whole = math.floor(turn / M.TICK)
  return whole * s.weight + math.floor((turn - whole * M.TICK) * s.weight / M.TICK)
end

-- What is charged keeps four bits of what is expected.
local function four_bits_of(ticks)
  local unit = 1
  while ticks >= 16 do ticks, unit = math.floor(ticks / 2), unit * 2 end
  return ticks * unit
end

-- Eight to each doubling, from the first eight on.
local function logarithm_of(ticks)
  local octaves = 0
  while ticks >= 16 do ticks, octaves = math.floor(ticks / 2), octaves + 1 end
  return 8 * octaves + ticks
end
local function ticks_of_logarithm(logarithm)
  local doublings = logarithm < 16 and 0 or math.floor(logarithm / 8) - 1
  return (logarithm - 8 * doublings) * 2 ^ doublings
end

-- Moves a part of the way to the last one, and by one tick at least.
local function average(so_far, ticks, parts)
  if so_far == 0 then return ticks end
  if ticks >= so_far then return so_far + math.ceil((ticks - so_far) / parts) end
  return so_far - math.ceil((so_far - ticks) / parts)
end

-- Of all runs of the queue.
local function usual_ticks(call) return ticks_of_logarithm(math.floor(call.usual_run / 256)) end

-- Of a start: what it costs, and what of that is an expected run. `own`: the seat of its tenant's messages.
function M.of_start(call, own, bytes)
  if call.settings.fair_by == M.TURNS then return M.TURN, 0 end
  if call.settings.fair_by == M.BYTES then return math.max(1, math.ceil(bytes / 64)) * PIECE, 0 end
  local expected = own.ticks ~= 0 and own.ticks or usual_ticks(call)
  local ticks = four_bits_of(math.max(expected, TICKS_LEAST))
  return ticks * M.TICK, ticks
end

-- Of the first one, where there was nothing.
function M.of_first(call, own, bytes, at)
  local cost = M.of_start(call, own, bytes)
  if call.settings.fair_by ~= M.TIME then return math.min(cost, M.TURN) end
  if own.run == 0 and own.idle + M.FORGOTTEN <= at then own.ticks = 0 end
  return math.min((M.of_start(call, own, 0)), math.max(usual_ticks(call), TICKS_LEAST) * M.TICK)
end

-- Of a group that has gathered.
function M.of_group(call, own, at)
  if call.settings.fair_by ~= M.TIME then return M.TURN end
  return M.of_first(call, own, 0, at)
end

-- What a tenant was given, with a start and with a run of so many ticks: in the unit that turns are paid in.
function M.given_by_start(call, bytes)
  if call.settings.fair_by == M.BYTES then return 1 + bytes end
  return call.settings.fair_by == M.TURNS and 1 or 0
end
function M.given_by_run(call, ticks) return call.settings.fair_by == M.TIME and 1 + ticks or 0 end

-- A run has taken so many: what is paid for it; the averages move.
function M.of_run(call, own, ticks)
  local took = math.max(ticks, TICKS_LEAST)
  own.ticks = average(own.ticks, took, 8)
  call.usual_run = average(call.usual_run, logarithm_of(took) * 256, 64)
  return took
end

return M
