import { expect, test } from "bun:test";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { RUNNING, runJob, type JobStatus, type VendorJob } from "./polling.ts";

type Poll = (signal: AbortSignal) => Promise<JobStatus<string>>;

const never = new AbortController().signal;
const done: Poll = async () => ({ state: "done", result: "picture" });
const fails =
  (kind: UpstreamError["kind"], retryAfterSeconds?: number): Poll =>
  () =>
    Promise.reject(new UpstreamError(kind, "trouble", { retryAfterSeconds }));

/** A job whose looks go as listed, and which notes when each came. */
function plan(...looks: Poll[]): VendorJob<string, string> & { times: number[]; cancelled: string[] } {
  const times: number[] = [];
  const cancelled: string[] = [];
  return {
    times,
    cancelled,
    submit: async () => ({ jobId: "job", jobStatus: RUNNING }),
    async poll(_, signal) {
      times.push(performance.now());
      return await (looks[times.length - 1] ?? done)(signal);
    },
    cancel: async (jobId) => void cancelled.push(jobId),
  };
}

test("a job that ends well is not cancelled", async () => {
  const job = plan(async () => RUNNING, done);
  expect(await runJob(job, 1, never)).toBe("picture");
  expect(job.cancelled).toEqual([]);
});

test("pauses grow while looks fail, and are the vendor's own again once one succeeds", async () => {
  const job = plan(fails("overloaded"), fails("broken"), async () => RUNNING, done);
  await runJob(job, 20, never);
  const [first = 0, second = 0, third = 0, fourth = 0] = job.times;
  expect(second - first).toBeGreaterThanOrEqual(39);
  expect(third - second).toBeGreaterThanOrEqual(79);
  expect(fourth - third).toBeLessThan(79);
});

test("a vendor that says when to come back is not asked before", async () => {
  const job = plan(fails("limited", 1), done);
  await runJob(job, 1, never);
  const [first = 0, second = 0] = job.times;
  expect(second - first).toBeGreaterThanOrEqual(999);
});

test("what the vendor says of the job is thrown as it is, without a cancel call", async () => {
  const error = new UpstreamError("refused", "moderated");
  const job = plan(async () => ({ state: "failed", error }));
  expect(await runJob(job, 1, never).catch((thrown: unknown) => thrown)).toBe(error);
  expect(job.cancelled).toEqual([]);
});

test("a bug in a look is no passing trouble: it is thrown as it is, and the job cancelled", async () => {
  const bug = new TypeError("bug");
  const job = plan(() => Promise.reject(bug));
  expect(await runJob(job, 1, never).catch((thrown: unknown) => thrown)).toBe(bug);
  expect(job.cancelled).toEqual(["job"]);
});

test("a cancel call that fails changes nothing", async () => {
  const job = { ...plan(fails("account")), cancel: () => Promise.reject(new Error("no")) };
  const error = await runJob(job, 1, never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: "account", isAmbiguous: true });
});

test("a signal that aborts during a pause ends it at once, with its own reason", async () => {
  const controller = new AbortController();
  const job = plan();
  const call = runJob(job, 60_000, controller.signal);
  await Bun.sleep(1);
  controller.abort("late");
  expect(await call.catch((thrown: unknown) => thrown)).toBe("late");
  expect(job.times).toEqual([]);
  expect(job.cancelled).toEqual(["job"]);
});
