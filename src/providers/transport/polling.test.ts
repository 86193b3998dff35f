import { expect, test } from "bun:test";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { RUNNING, runJob, type VendorJobStatus, type VendorJob } from "./polling.ts";

type Poll = (signal: AbortSignal) => Promise<VendorJobStatus<string>>;

const never = new AbortController().signal;
const done: Poll = async () => ({ state: "done", result: "picture" });
const fails =
  (kind: UpstreamError["kind"], retryAfterSeconds?: number): Poll =>
  () =>
    Promise.reject(new UpstreamError(kind, "trouble", { retryAfterSeconds }));

/** Returns a job whose polls have these outcomes; later polls find it done. `times` records the time of each poll. */
function makeJob(...polls: Poll[]): VendorJob<string> & { times: number[]; cancelled: string[] } {
  const times: number[] = [];
  const cancelled: string[] = [];
  return {
    times,
    cancelled,
    submit: async () => ({ jobId: "job", jobStatus: RUNNING }),
    async poll(_, signal) {
      times.push(performance.now());
      return await (polls[times.length - 1] ?? done)(signal);
    },
    cancel: async (jobId) => void cancelled.push(jobId),
  };
}

test("a job that succeeds is not cancelled", async () => {
  const job = makeJob(async () => RUNNING, done);
  expect(await runJob(job, { intervalMs: 1 }, never)).toBe("picture");
  expect(job.cancelled).toEqual([]);
});

test("intervals grow while polls fail, and are normal again after a success", async () => {
  const job = makeJob(fails("overloaded"), fails("broken"), async () => RUNNING, done);
  await runJob(job, { intervalMs: 20 }, never);
  const [first = 0, second = 0, third = 0, fourth = 0] = job.times;
  expect(second - first).toBeGreaterThanOrEqual(39);
  expect(third - second).toBeGreaterThanOrEqual(79);
  expect(fourth - third).toBeLessThan(79);
});

test("a retry-after of the vendor is respected", async () => {
  const job = makeJob(fails("limited", 1), done);
  await runJob(job, { intervalMs: 1 }, never);
  const [first = 0, second = 0] = job.times;
  expect(second - first).toBeGreaterThanOrEqual(999);
});

test("a job's own error is thrown unchanged, without a cancel call", async () => {
  const error = new UpstreamError("refused", "moderated");
  const job = makeJob(async () => ({ state: "failed", error }));
  expect(await runJob(job, { intervalMs: 1 }, never).catch((thrown: unknown) => thrown)).toBe(error);
  expect(job.cancelled).toEqual([]);
});

test("a bug in a poll is thrown unchanged, and the job is cancelled", async () => {
  const bug = new TypeError("bug");
  const job = makeJob(() => Promise.reject(bug));
  expect(await runJob(job, { intervalMs: 1 }, never).catch((thrown: unknown) => thrown)).toBe(bug);
  expect(job.cancelled).toEqual(["job"]);
});

test.each([
  ["not found", "broken", 404],
  ["forbidden", "broken", 403],
  ["rejected", "rejected", 400],
] as const)(
  "a job that is %s when polled is lost, without blame on account or caller",
  async (_, kind, status) => {
    const job = makeJob(() => Promise.reject(new UpstreamError(kind, "trouble", { status })));
    const error = await runJob(job, { intervalMs: 1 }, never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "broken", status, isAmbiguous: true });
    expect(job.times).toHaveLength(1);
    expect(job.cancelled).toEqual(["job"]);
  },
);

test("a signal that aborts during the submission cancels the job once it has an id", async () => {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<{ jobId: string; jobStatus: VendorJobStatus<string> }>();
  const job = { ...makeJob(), submit: () => promise };
  const call = runJob(job, { intervalMs: 1 }, controller.signal);
  controller.abort("late");
  expect(await call.catch((thrown: unknown) => thrown)).toBe("late");
  resolve({ jobId: "job", jobStatus: RUNNING });
  await promise;
  await Bun.sleep(0);
  expect(job.cancelled).toEqual(["job"]);
});

test("a cancel call that fails does not change the error", async () => {
  const job = { ...makeJob(fails("account")), cancel: () => Promise.reject(new Error("no")) };
  const error = await runJob(job, { intervalMs: 1 }, never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: "account", isAmbiguous: true });
});

test("a signal that aborts between polls ends the job at once, with its own reason", async () => {
  const controller = new AbortController();
  const job = makeJob();
  const call = runJob(job, { intervalMs: 60_000 }, controller.signal);
  await Bun.sleep(1);
  controller.abort("late");
  expect(await call.catch((thrown: unknown) => thrown)).toBe("late");
  expect(job.times).toEqual([]);
  expect(job.cancelled).toEqual(["job"]);
});
