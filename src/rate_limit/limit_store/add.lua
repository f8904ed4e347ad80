-- Adds requests of a subject that were already admitted, whatever the limits are.
-- Arguments: the time in milliseconds, and for the short window: length, start and count; for the day: limit, start and count.
local DAY = 86400000
-- The same as in entity/rate_windows.rs.
local DELETE_AFTER = 600000
local now, short_length, day_limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[5])
local stored = redis.call('HMGET', KEYS[1], 'short_start', 'short_used', 'day_start', 'day_used')

-- Returns the start and the count of the window: the sum if both windows overlap, otherwise the later one of them.
local function window(stored_start, stored_used, length, start, count)
  if not stored_start or start >= stored_start + length then return start, count end
  if start > stored_start - length then return stored_start, stored_used + count end
  return stored_start, stored_used
end

local short_start, short_used = window(tonumber(stored[1]), tonumber(stored[2]), short_length,
  tonumber(ARGV[3]), tonumber(ARGV[4]))
local day_start, day_used = window(tonumber(stored[3]), tonumber(stored[4]), DAY, tonumber(ARGV[6]), tonumber(ARGV[7]))
redis.call('HSET', KEYS[1], 'short_start', short_start, 'short_used', short_used, 'day_start', day_start,
  'day_used', day_used)
-- The same as in admit.lua.
local expires_in = short_start + short_length + DELETE_AFTER - now
if day_used * 10 >= day_limit then expires_in = math.max(expires_in, day_start + DAY - now) end
redis.call('PEXPIRE', KEYS[1], expires_in)
