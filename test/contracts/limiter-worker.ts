/**
 * Takes from a shared limiter as fast as possible, in a separate process. Prints `ready`, waits for a line of input,
 * takes, and prints the number of admissions.
 */
import type { LimitRequest } from "../../src/gateway/admission/limits.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { RedisLimiter } from "../../src/storage/counters/redis-limiter.ts";

const [url = "", attempts = "0", limit = "0"] = process.argv.slice(2);
const limiter = new RedisLimiter({
  url,
  processes: () => 3,
  clock: systemClock,
  boundMs: 2_000,
  onDegraded() {},
});
await limiter.ready;
console.log("ready");
for await (const _line of console) break;

const request: LimitRequest = {
  quantity: "requests",
  scope: "organization",
  owner: "shared",
  limit: Number(limit),
  amount: 1,
};
let admitted = 0;
for (let attempt = 0; attempt < Number(attempts); attempt++) {
  if ((await limiter.take([request])).isAdmitted) admitted += 1;
}
console.log(admitted);
limiter.close();
process.exit(0);
