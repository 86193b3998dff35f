import { openAmount, type LimitRequest, type LimitWindow } from "../../gateway/admission/limits.ts";
import { script } from "./script.ts";

/** Number of slots into which a window is divided. The limiter of a single process uses the same number. */
export const SLOTS = 30;

/**
 * Functions on windows. A window is one packed value, `{began, total, last, amount, open, last, amount, open, …}`.
 * `began` is the start of the newest slot, and `total` the sum of all amounts. Each slot, oldest first, has the time of
 * its last addition, its amount, and the open part of the amount, which running requests may give back. Times are the
 * server's, in milliseconds. After a clock was set back, a value may be from the future; it counts as empty if that is
 * more than a window ahead.
 */
const WINDOWS = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local windowMs, slotMs = tonumber(ARGV[1]), tonumber(ARGV[2])

local function read(key)
  local packed = redis.call("GET", key)
  local stored = packed and cmsgpack.unpack(packed) or {now, 0}
  if #stored > 2 and stored[#stored - 2] > now + windowMs then return {now, 0} end
  local window = {stored[1], stored[2]}
  for index = 3, #stored, 3 do
    if stored[index] + windowMs > now then
      window[#window + 1] = stored[index]
      window[#window + 1] = stored[index + 1]
      window[#window + 1] = stored[index + 2]
    else
      window[2] = window[2] - stored[index + 1]
    end
  end
  return window
end

local function write(key, window)
  redis.call("SET", key, cmsgpack.pack(window), "PX", windowMs * 2)
end

local function add(window, amount, open)
  local size = #window
  local at = now
  if size > 2 and window[size - 2] > now then at = window[size - 2] end
  if size == 2 or at - window[1] >= slotMs then
    window[1] = at
    window[size + 1] = at
    window[size + 2] = amount
    window[size + 3] = open
  else
    window[size - 2] = at
    window[size - 1] = window[size - 1] + amount
    window[size] = window[size] + open
  end
  window[2] = window[2] + amount
end
`;

/**
 * Grants all requests or none. KEYS: one counter for each request, then the epoch. ARGV: length of the window, length
 * of its slots, lease time of a concurrency slot and waiting time for a slot, all in milliseconds; the slot's name; the
 * epoch; then limit, amount and open amount of each request. The open amount is `slot` for a concurrency slot. Returns
 * the number of the request that waits longest (0 when granted), its wait, the time, and for each request the remaining
 * amount and the reset time. Returns -1 when the epoch in the store differs from the given epoch.
 */
export const TAKE = script(`${WINDOWS}
local leaseMs, slotWaitMs, slotName = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local windows = {}
if redis.call("GET", table.remove(KEYS)) ~= ARGV[6] then return {-1} end
local failed, longestMs = 0, 0
for index, key in ipairs(KEYS) do
  local limit, amount = tonumber(ARGV[index * 3 + 4]), tonumber(ARGV[index * 3 + 5])
  local waitMs = 0
  if ARGV[index * 3 + 6] == "slot" then
    redis.call("ZREMRANGEBYSCORE", key, "-inf", now)
    if redis.call("ZCARD", key) >= limit then waitMs = slotWaitMs end
  else
    local window = read(key)
    windows[index] = window
    local excess = window[2] + amount - limit
    if excess > 0 then
      waitMs = 1
      for slot = 3, #window, 3 do excess = excess - window[slot + 2] end
      if excess > 0 then waitMs = windowMs end
    end
    for slot = 3, #window, 3 do
      if excess <= 0 then break end
      excess = excess - window[slot + 1] + window[slot + 2]
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
    add(window, amount, tonumber(ARGV[index * 3 + 6]))
    write(key, window)
  elseif failed == 0 then
    redis.call("ZADD", key, now + leaseMs, slotName)
    redis.call("PEXPIRE", key, leaseMs)
  end
  local isEmpty = not window or window[2] == 0
  answer[#answer + 1] = window and math.max(0, limit - window[2]) or 0
  answer[#answer + 1] = isEmpty and 0 or window[#window - 2] + windowMs - now
end
return answer
`);

/** Returns limit, amount and open amount of each request, as `TAKE` expects them. */
export function limitArguments(requests: readonly LimitRequest[]): string[] {
  return requests.flatMap((request) => {
    const open = request.quantity === "concurrent_images" ? "slot" : String(openAmount(request));
    return [String(request.limit), String(request.amount), open];
  });
}

/** A request for a counter that nobody uses, to test whether the store works. */
export const PROBE: LimitRequest = {
  quantity: "requests",
  scope: "key",
  owner: "probe",
  limit: 1_000_000,
  amount: 1,
};

/** Reads the result of `TAKE`. Returns null when the result has another form. */
export function readTake(response: unknown, requestCount: number): number[] | null {
  if (!Array.isArray(response) || response.length !== 3 + requestCount * 2) return null;
  return response.every((item) => typeof item === "number") ? response : null;
}

/** Returns the remaining amount and reset time of each request that has a window, from the result of `TAKE`. */
export function windowsOf(requests: readonly LimitRequest[], response: readonly number[]): LimitWindow[] {
  return requests.flatMap(({ quantity, limit }, index) => {
    if (quantity === "concurrent_images") return [];
    const remaining = response[3 + index * 2] ?? 0;
    return [{ quantity, limit, remaining, resetSeconds: Math.ceil((response[4 + index * 2] ?? 0) / 1000) }];
  });
}

/**
 * Returns the name of the data in the store and the age of the data in milliseconds. Makes a new name when the store
 * has none, so a process that remembers another name learns that the store has lost its data. KEYS: the key of the
 * name. ARGV: a new name, and the milliseconds after which the name expires unless this script runs again.
 */
export const EPOCH = script(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("SET", KEYS[1], string.format("%s %d", ARGV[1], now), "NX")
redis.call("PEXPIRE", KEYS[1], ARGV[2])
local epoch = redis.call("GET", KEYS[1])
return {epoch, now - tonumber(string.match(epoch, "%d+$"))}
`);

export function readEpoch(result: unknown): [epoch: string, ageMs: number] {
  const [epoch, ageMs]: unknown[] = Array.isArray(result) ? result : [];
  return [String(epoch), Number(ageMs)];
}

/**
 * Adds the grants of a process to windows that the store has lost. KEYS: one window each. ARGV: length of the window
 * and of its slots in milliseconds; then for each window the number of grants, and the age and amount of each grant.
 */
export const SEED = script(`${WINDOWS}
local position = 3
for _, key in ipairs(KEYS) do
  local window = read(key)
  local uses = {}
  for slot = 3, #window, 3 do uses[#uses + 1] = {window[slot], window[slot + 1], window[slot + 2]} end
  local count = tonumber(ARGV[position])
  for use = 1, count do
    local age, amount = tonumber(ARGV[position + use * 2 - 1]), tonumber(ARGV[position + use * 2])
    uses[#uses + 1] = {now - math.floor(age), amount, 0}
  end
  position = position + 1 + count * 2
  table.sort(uses, function(one, other) return one[1] < other[1] end)
  local merged = {now, 0}
  for _, use in ipairs(uses) do
    local size = #merged
    if size == 2 or use[1] - merged[1] >= slotMs then
      merged[1] = use[1]
      merged[size + 1] = use[1]
      merged[size + 2] = use[2]
      merged[size + 3] = use[3]
    else
      merged[size - 2] = use[1]
      merged[size - 1] = merged[size - 1] + use[2]
      merged[size] = merged[size] + use[3]
    end
    merged[2] = merged[2] + use[2]
  end
  write(key, merged)
end
`);

/**
 * Corrects an amount that was counted earlier. KEYS: one window each. ARGV: length of the window and of its slots in
 * milliseconds, the time of the earlier count, the correction, and the part of the amount that can no longer be given
 * back. A negative correction is subtracted only from the slot of that count.
 */
export const CORRECT = script(`${WINDOWS}
local at, by, closed = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
for _, key in ipairs(KEYS) do
  local window = read(key)
  if at + windowMs > now then
    for slot = 3, #window, 3 do
      if window[slot] >= at then
        local less = math.min(math.max(0, -by), window[slot + 1])
        window[slot + 1] = window[slot + 1] - less
        window[slot + 2] = math.max(0, window[slot + 2] - closed)
        window[2] = window[2] - less
        break
      end
    end
  end
  if by > 0 then add(window, by, 0) end
  if #window > 2 then write(key, window) end
end
`);

/** Renews concurrency slots. KEYS: one set each. ARGV: lease time in milliseconds, then the slot's name in each set. */
export const RENEW = script(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for index, key in ipairs(KEYS) do
  redis.call("ZADD", key, now + ARGV[1], ARGV[index + 1])
  redis.call("PEXPIRE", key, ARGV[1])
end
`);
