import type { Fault } from "../fault.ts";

const GRANT = "src/gateway/admission/limit-grant.ts";
const WINDOW = "src/gateway/admission/sliding-window.ts";
const MEMORY = "src/gateway/admission/memory-limiter.ts";
const COORDINATOR = "src/storage/counters/limit-coordinator.ts";
const WORKER = "src/storage/counters/worker-limiter.ts";
const REDIS = "src/storage/counters/redis-limiter.ts";
const SCRIPTS = "src/storage/counters/limit-scripts.ts";
const SLOTS = "src/storage/counters/slots.ts";

const limits = ["src/gateway/admission/limits.test.ts"];
const window = ["src/gateway/admission/sliding-window.test.ts"];
const memory = ["src/gateway/admission/memory-limiter.test.ts"];
const limiters = ["test/contracts/limiter.test.ts"];
const workers = ["test/contracts/worker-limits.test.ts"];
const processes = ["test/e2e/limits-processes.test.ts"];

/** What counts in a limit, in one process, in several and over Redis. */
export const LIMIT_FAULTS: readonly Fault[] = [
  {
    name: "the limit of a key does not count",
    file: GRANT,
    find: `if (ofKey !== null) requests.push(`,
    replace: "if (ofKey !== null && ofKey < 0) requests.push(",
    tests: limits,
  },
  {
    name: "an own null does not lift a configured limit",
    file: GRANT,
    find: "return own === undefined ? configured : own;",
    replace: "return own ?? configured;",
    tests: limits,
  },
  {
    name: "a slot is released as often as it is asked for",
    file: GRANT,
    find: "    if (this.#isReleased) return;\n",
    replace: "",
    tests: limits,
  },
  {
    name: "tokens are corrected by the whole of what was used",
    file: GRANT,
    find: "const by = actual - this.#countedTokens;",
    replace: "const by = actual;",
    tests: limits,
  },
  {
    name: "a request larger than its limit is counted",
    file: GRANT,
    find: "for (const request of requests) if (amount > request.limit) throw neverAdmitted(request, param);",
    replace: "void neverAdmitted;",
    tests: limits,
  },
  {
    name: "a window is too short",
    file: WINDOW,
    find: "this.#at(this.#lastAt, 0) + this.#windowMs <= now",
    replace: "this.#at(this.#lastAt, 0) + this.#windowMs * 0.9 <= now",
    tests: window,
  },
  {
    name: "a reduction takes from another time",
    file: WINDOW,
    find: "if (this.#at(this.#lastAt, index) < addedAt) continue;",
    replace: "",
    tests: window,
  },
  {
    name: "a reduction takes more than was added",
    file: WINDOW,
    find: "const reduced = Math.min(by, this.#at(this.#amounts, index));",
    replace: "const reduced = by;",
    tests: window,
  },
  {
    name: "a request is counted twice",
    file: MEMORY,
    find: "add(now, this.#counted(request, request.amount))",
    replace: "add(now, 2 * this.#counted(request, request.amount))",
    tests: limits,
  },
  {
    name: "a refused request is counted",
    file: MEMORY,
    find: "    return {\n      isAdmitted: false,",
    replace: "    this.#count(requests, now);\n    return {\n      isAdmitted: false,",
    tests: limiters,
  },
  {
    name: "a released slot stays taken",
    file: MEMORY,
    find: `if (request.quantity === "concurrent_images") this.#move(request, -1);`,
    replace: "void request;",
    tests: limits,
  },
  {
    name: "what was not used stays counted",
    file: MEMORY,
    find: "else this.#table(counter).find(counter.owner, now)?.reduce(now, takenAt, -by);",
    replace: "void takenAt;",
    tests: limits,
  },
  {
    name: "each process keeps to the whole limit while the store is away",
    file: MEMORY,
    find: "return share === 1 || limit === 0 ? limit : Math.max(1, Math.floor(limit / share));",
    replace: "return share < 0 ? 0 : limit;",
    tests: memory,
  },
  {
    name: "what was granted elsewhere does not count",
    file: MEMORY,
    find: "return this.#count(requests, this.#clock.monotonic());",
    replace: "return this.#count(requests.slice(0, 0), this.#clock.monotonic());",
    tests: memory,
  },
  {
    name: "a window that is in use is forgotten",
    file: MEMORY,
    find: "this.#old = now < this.#turnsAt + this.#windowMs ? this.#young : new Map();",
    replace: "this.#old = new Map();",
    tests: memory,
  },
  {
    name: "the slots of a worker that ended never come back",
    file: COORDINATOR,
    find: "for (const reservation of this.#slots.get(worker)?.values() ?? []) reservation.release();",
    replace: "",
    tests: workers,
  },
  {
    name: "the supervisor forgets a worker that ended",
    file: "src/supervise.ts",
    find: "this.#limits.workerEnded(number);",
    replace: "",
    tests: processes,
  },
  {
    name: "a credit is not counted as used",
    file: COORDINATOR,
    find: "this.#limiter.record([{ ...request, amount }])",
    replace: "this.#limiter.record([{ ...request, amount: 0 }])",
    tests: workers,
  },
  {
    name: "the unused part of a credit stays counted",
    file: COORDINATOR,
    find: "credit.reservation.correct(counter.quantity, -unused);",
    replace: "void unused;",
    tests: workers,
  },
  {
    name: "a request is refused although workers hold unused credits",
    file: COORDINATOR,
    find: "if (this.#recall(waiting, verdict.failed)) return;",
    replace: "",
    tests: workers,
  },
  {
    name: "a slot that a worker releases stays taken",
    file: COORDINATOR,
    find: "      this.#slots.get(worker)?.get(id)?.release();",
    replace: "",
    tests: workers,
  },
  {
    name: "what a credit counts leaves the window before its use",
    file: COORDINATOR,
    find: "windowMs = MINUTE_MS + CREDIT_MS",
    replace: "windowMs = MINUTE_MS",
    tests: workers,
  },
  {
    name: "a worker's corrections are ignored",
    file: COORDINATOR,
    find: "this.#limiter.correct(counter, takenAt, by);",
    replace: "void [counter, takenAt, by];",
    tests: workers,
  },
  {
    name: "a worker admits from a credit after its end",
    file: WORKER,
    find: "credit.endsAt <= now || ",
    replace: "",
    tests: workers,
  },
  {
    name: "a worker admits without an end from a credit",
    file: WORKER,
    find: " || credit.left < request.amount",
    replace: "",
    tests: workers,
  },
  {
    name: "what the supervisor granted too late stays counted",
    file: WORKER,
    find: "for (const { quantity, amount } of pending.requests) reservation.correct(quantity, -amount);",
    replace: "",
    tests: workers,
  },
  {
    name: "a worker alone keeps to the whole limit",
    file: WORKER,
    find: "share: () => workers",
    replace: "share: () => workers / workers",
    tests: workers,
  },
  {
    name: "a slot of a process that died stays taken in Redis",
    file: SCRIPTS,
    find: `    redis.call("ZREMRANGEBYSCORE", key, "-inf", now)\n`,
    replace: "",
    tests: limiters,
  },
  {
    name: "a slot of a living process runs out in Redis",
    file: SLOTS,
    find: "for (const [name, slots] of this.#held) {",
    replace: "for (const [name, slots] of [...this.#held].slice(0, 0)) {",
    tests: limiters,
  },
  {
    name: "a released slot stays taken in Redis",
    file: SLOTS,
    find: `    Promise.all(keys.map((key) => send("ZREM", [key, name]))).then(`,
    replace: "    Promise.resolve(send).then(",
    tests: limiters,
  },
  {
    name: "a window in Redis is too short",
    file: SCRIPTS,
    find: "if stored[index] + windowMs > now then",
    replace: "if stored[index] + windowMs * 0.5 > now then",
    tests: limiters,
  },
  {
    name: "a refused request is counted in Redis",
    file: SCRIPTS,
    find: "if failed == 0 and window then",
    replace: "if window then",
    tests: limiters,
  },
  {
    name: "a correction in Redis is ignored",
    file: SCRIPTS,
    find: "local less = math.min(-by, window[slot + 1])",
    replace: "local less = 0",
    tests: limiters,
  },
  {
    name: "a Redis that lost its data is not told what was granted",
    file: REDIS,
    find: ".filter(({ uses }) => uses.length > 0)",
    replace: ".filter(({ uses }) => uses.length < 0)",
    tests: limiters,
  },
  {
    name: "what Redis granted does not count while it is away",
    file: REDIS,
    find: "const local = this.#fallback.record(requests);",
    replace: "const local = this.#fallback.record(requests.slice(0, 0));",
    tests: limiters,
  },
  {
    name: "a process keeps to the whole limit while Redis is away",
    file: REDIS,
    find: "share: processes, windowMs",
    replace: "share: () => 1 || processes, windowMs",
    tests: limiters,
  },
  {
    name: "one client address takes all memory for bodies",
    file: "src/server/resource-quota.ts",
    find: "const NETWORK_SHARE = 0.75;",
    replace: "const NETWORK_SHARE = 1;",
    tests: ["src/server/resource-quota.test.ts"],
  },
  {
    name: "one organization's pictures take every processor",
    file: "src/imaging/codec-slots.ts",
    find: "processors - 1",
    replace: "processors",
    tests: ["src/imaging/codec-slots.test.ts"],
  },
  {
    name: "a body may have any number of tiny chunks",
    file: "src/server/small-chunks.ts",
    find: "const MAX_SMALL_CHUNKS = 8_192;",
    replace: "const MAX_SMALL_CHUNKS = Infinity;",
    tests: ["test/e2e/entrance-bodies.test.ts"],
  },
  {
    name: "small chunks come after the larger one behind them",
    file: "src/server/body-limits.ts",
    find: "      if (joined) yield joined;\n      yield piece;\n",
    replace: "      yield piece;\n      if (joined) yield joined;\n",
    tests: ["src/server/body.test.ts"],
  },
  {
    name: "a compressed body has no bound before it is decoded",
    file: "src/server/body-limits.ts",
    find: "if (received > maxBytes) throw tooLarge(maxBytes);",
    replace: "void [maxBytes, tooLarge];",
    tests: ["src/server/body.test.ts"],
  },
  {
    name: "a connection begins any number of requests at once",
    file: "src/server/request-turns.ts",
    find: "const MAX_REQUESTS = 256;",
    replace: "const MAX_REQUESTS = 2 ** 40;",
    tests: ["test/spec/http-strictness.test.ts"],
  },
];
