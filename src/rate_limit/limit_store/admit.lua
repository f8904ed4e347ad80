-- Admits and counts as many requests as both windows of a subject allow.
-- Arguments: the time in milliseconds or an empty string for the clock of the server, the number of requests, and for the
-- short window: limit, length, alignment, start and count that the caller knows; for the day: limit, start and count that the
-- caller knows. Returns the number of admitted requests, the start and the count of both windows, and the time.
local DAY = 86400000
-- The same as in entity/rate_windows.rs.
local MAX_LAG, DELETE_AFTER = 5000, 600000
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local requested = tonumber(ARGV[2])
local short_limit, short_length, short_alignment = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local day_limit = tonumber(ARGV[8])
local stored = redis.call('HMGET', KEYS[1], 'short_start', 'short_used', 'day_start', 'day_used')

-- Returns the start of the current window and its count. A window counts requests from a little before its start. If the clock
-- was set back, the count continues in the earlier window up to `max_set_back`.
local function window(stored_start, stored_used, length, max_set_back, alignment, known_start, known)
  local new = now - now % alignment
  local start, used = new, 0
  if stored_start and now >= stored_start - max_set_back and now < stored_start + length then
    used = stored_used
    if now >= stored_start - MAX_LAG then start = stored_start end
  end
  if start == known_start and start == new then used = math.max(used, known) end
  return start, used
end

local short_start, short_used = window(tonumber(stored[1]), tonumber(stored[2]), short_length, short_length - 1,
  short_alignment, tonumber(ARGV[6]), tonumber(ARGV[7]))
local day_start, day_used = window(tonumber(stored[3]), tonumber(stored[4]), DAY, MAX_LAG, DAY,
  tonumber(ARGV[9]), tonumber(ARGV[10]))
local admitted = math.max(0, math.min(requested, short_limit - short_used, day_limit - day_used))
short_used = short_used + admitted
day_used = day_used + admitted
redis.call('HSET', KEYS[1], 'short_start', short_start, 'short_used', short_used, 'day_start', day_start,
  'day_used', day_used)
-- As in the table, a subject is forgotten early if it has used little of its day.
local expires_in = short_start + short_length + DELETE_AFTER - now
if day_used * 10 >= day_limit then expires_in = math.max(expires_in, day_start + DAY - now) end
redis.call('PEXPIRE', KEYS[1], expires_in)
return { admitted, short_start, short_used, day_start, day_used, now }
