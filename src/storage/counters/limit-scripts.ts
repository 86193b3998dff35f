import { script } from "./script.ts";

/** Slots a window is divided into, as in the limiter of one process. */
export const SLOTS = 30;

/**
 * A window is one packed value, `{began, total, last, amount, last, amount, …}`: when the newest slot began, the
 * sum, and each slot's last time and amount, oldest first. Times are the server's, in milliseconds. A value from
 * beyond the future, left by a clock that was set back, counts as empty.
 */
const WINDOWS = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local windowMs, slotMs = tonumber(ARGV[1]), tonumber(ARGV[2])

local function read(key)
  local packed = redis.call("GET", key)
  local stored = packed and cmsgpack.unpack(packed) or {now, 0}
  if #stored > 2 and stored[#stored - 1] > now + windowMs then return {now, 0} end
  local window = {stored[1], stored[2]}
  for index = 3, #stored, 2 do
    if stored[index] + windowMs > now then
      window[#window + 1] = stored[index]
      window[#window + 1] = stored[index + 1]
    else
      window[2] = window[2] - stored[index + 1]
    end
  end
  return window
end

local function write(key, window)
  redis.call("SET", key, cmsgpack.pack(window), "PX", windowMs * 2)
end

local function add(window, amount)
  local size = #window
  local at = now
  if size > 2 and window[size - 1] > now then at = window[size - 1] end
  if size == 2 or at - window[1] >= slotMs then
    window[1] = at
    window[size + 1] = at
    window[size + 2] = amount
  else
    window[size - 1] = at
    window[size] = window[size] + amount
  end
  window[2] = window[2] + amount
end
`;

/**
 * Grants all wishes or none. KEYS: a counter each. ARGV: window, slot and place life in milliseconds, the wait told
 * for a missing place, the place's name; then `window` or `place`, limit and amount of each wish. Answers the
 * number of the wish that has longest to wait (0: granted), that wait, the time, and remaining and reset of each.
 */
export const TAKE = script(`${WINDOWS}
local placeMs, placeWaitMs, place = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local windows = {}
local failed, longestMs = 0, 0
for index, key in ipairs(KEYS) do
  local limit, amount = tonumber(ARGV[index * 3 + 4]), tonumber(ARGV[index * 3 + 5])
  local waitMs = 0
  if ARGV[index * 3 + 3] == "place" then
    redis.call("ZREMRANGEBYSCORE", key, "-inf", now)
    if redis.call("ZCARD", key) >= limit then waitMs = placeWaitMs end
  else
    local window = read(key)
    windows[index] = window
    local excess = window[2] + amount - limit
    if excess > 0 then waitMs = windowMs end
    for slot = 3, #window, 2 do
      if excess <= 0 then break end
      excess = excess - window[slot + 1]
      waitMs = window[slot] + windowMs - now
    end
  end
  if waitMs > longestMs then failed, longestMs = index, waitMs end
end
local answer = {failed, longestMs, now}
for index, key in ipairs(KEYS) do
  local limit, amount = tonumber(ARGV[index * 3 + 4]), tonumber(ARGV[index * 3 + 5])
  local window = windows[index]
  if failed == 0 and window then
    add(window, amount)
    write(key, window)
  elseif failed == 0 then
    redis.call("ZADD", key, now + placeMs, place)
    redis.call("PEXPIRE", key, placeMs)
  end
  local isEmpty = not window or window[2] == 0
  answer[#answer + 1] = window and math.max(0, limit - window[2]) or 0
  answer[#answer + 1] = isEmpty and 0 or window[#window - 1] + windowMs - now
end
return answer
`);

/**
 * Corrects what was counted at a time. KEYS: a window each. ARGV: window and slot in milliseconds, the time, and by
 * how much; less is taken only from the slot it was counted in.
 */
export const CORRECT = script(`${WINDOWS}
local at, by = tonumber(ARGV[3]), tonumber(ARGV[4])
for _, key in ipairs(KEYS) do
  local window = read(key)
  if by > 0 then
    add(window, by)
    write(key, window)
  elseif at + windowMs > now then
    for slot = 3, #window, 2 do
      if window[slot] >= at then
        local less = math.min(-by, window[slot + 1])
        window[slot + 1] = window[slot + 1] - less
        window[2] = window[2] - less
        write(key, window)
        break
      end
    end
  end
end
`);

/** Keeps places alive. KEYS: a set each. ARGV: place life in milliseconds, then the place's name in each set. */
export const RENEW = script(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for index, key in ipairs(KEYS) do
  redis.call("ZADD", key, now + ARGV[1], ARGV[index + 1])
  redis.call("PEXPIRE", key, ARGV[1])
end
`);
