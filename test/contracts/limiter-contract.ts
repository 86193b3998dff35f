import { expect, test } from "bun:test";
import type {
  Limiter,
  LimitReservation,
  LimitVerdict,
  LimitRequest,
} from "../../src/gateway/admission/limits.ts";

/** The window is short, because a driver with a real clock must wait until the window ends. */
export const WINDOW_MS = 1_000;

export interface Subject {
  limiter: Limiter;
  /** Lets time pass, on a fake or a real clock. */
  pass(durationMs: number): Promise<void>;
}

/** The guarantees of every limiter, with counts in memory, at the supervisor or in Redis. */
export function contract(make: (windowMs?: number) => Subject | Promise<Subject>): void {
  test("exactly the limit is admitted in a window, and again when it has passed", async () => {
    const { limiter, pass } = await make();
    const requests = [request("requests", "org", 10)];
    expect(await count(limiter, requests, 25)).toBe(10);
    await pass(WINDOW_MS / 2);
    expect(await count(limiter, requests, 5)).toBe(0);
    await pass(WINDOW_MS / 2 + WINDOW_MS / 20);
    expect(await count(limiter, requests, 25)).toBe(10);
  });

  test("the window slides: each use becomes available again by itself, not all at a boundary", async () => {
    const { limiter, pass } = await make();
    const requests = [request("images", "org", 6, 2)];
    await admitted(limiter, requests);
    await pass(WINDOW_MS / 2);
    await admitted(limiter, requests);
    await admitted(limiter, requests);
    await pass(WINDOW_MS / 2 + WINDOW_MS / 15);
    expect(await count(limiter, requests, 3)).toBe(1);
  });

  test("all or none: a request that fails leaves the others uncounted, and is named", async () => {
    const { limiter } = await make();
    await admitted(limiter, [request("tokens", "org", 100, 90)]);
    const requests = [
      request("requests", "org", 5),
      request("tokens", "org", 100, 20),
      request("concurrent_images", "org", 5),
    ];
    for (let index = 0; index < 5; index++) {
      const verdict = await limiter.take(requests);
      expect(verdict).toMatchObject({ isAdmitted: false, failed: requests[1], retryAfterSeconds: 1 });
    }
    expect(await count(limiter, [request("requests", "org", 5)], 10)).toBe(5);
    expect(await count(limiter, [request("concurrent_images", "org", 5)], 10)).toBe(5);
  });

  test("the windows show limit, remaining and reset of each minute limit in order", async () => {
    const { limiter } = await make();
    const verdict = await limiter.take([
      request("requests", "org", 5),
      request("concurrent_images", "org", 2),
      request("tokens", "org", 1_000, 300),
    ]);
    expect(verdict.windows).toEqual([
      { quantity: "requests", limit: 5, remaining: 4, resetSeconds: 1 },
      { quantity: "tokens", limit: 1_000, remaining: 700, resetSeconds: 1 },
    ]);
  });

  test("owners, scopes and quantities are counted apart", async () => {
    const { limiter } = await make();
    const other: LimitRequest = { ...request("requests", "org", 1), scope: "key" };
    for (const asked of [
      request("requests", "org", 1),
      request("requests", "two", 1),
      request("images", "org", 1),
      other,
    ]) {
      expect(await count(limiter, [asked], 3)).toBe(1);
    }
  });

  test("slots bound what runs at once and are available again when released", async () => {
    const { limiter, pass } = await make();
    const requests = [request("concurrent_images", "key", 2)];
    const first = await admitted(limiter, requests);
    await admitted(limiter, requests);
    expect(await limiter.take(requests)).toMatchObject({ isAdmitted: false, retryAfterSeconds: 5 });
    await pass(WINDOW_MS * 1.1);
    expect(await isAdmitted(limiter, requests)).toBe(false);
    first.release();
    await until(() => isAdmitted(limiter, requests));
    expect(await isAdmitted(limiter, requests)).toBe(false);
  });

  test("a correction subtracts what was not used and adds what was used beyond the estimate", async () => {
    const { limiter } = await make();
    const remaining = async () =>
      (await limiter.take([request("tokens", "org", 1_000, 0)])).windows[0]?.remaining;
    const reservation = await admitted(limiter, [request("tokens", "org", 1_000, 900)]);
    reservation.correct("tokens", -700);
    await until(async () => (await remaining()) === 800);
    reservation.correct("tokens", 900);
    await until(async () => (await remaining()) === 0);
    expect(await isAdmitted(limiter, [request("tokens", "org", 1_000, 1)])).toBe(false);
  });

  test("an image that is given back can be taken at once, in every count it was counted in", async () => {
    const { limiter } = await make();
    const images = (amount: number): LimitRequest[] => [
      request("images", "org", 3, amount),
      { ...request("images", "key", 3, amount), scope: "key" },
    ];
    const slot = request("concurrent_images", "org", 5);
    await admitted(limiter, images(2));
    const first = await admitted(limiter, [...images(1), slot]);
    expect(await isAdmitted(limiter, images(1))).toBe(false);
    await first.correct("images", -1);
    await admitted(limiter, images(1));
    expect(await isAdmitted(limiter, images(1))).toBe(false);
  });

  test("the wait of a refusal counts nothing that running requests may give back", async () => {
    const { limiter } = await make(60_000);
    const wait = async (amount: number) => {
      const verdict = await limiter.take([request("tokens", "org", 1_000, amount)]);
      return verdict.isAdmitted ? 0 : verdict.retryAfterSeconds;
    };
    const first = await admitted(limiter, [request("tokens", "org", 1_000, 300)]);
    const second = await admitted(limiter, [request("tokens", "org", 1_000, 600)]);
    expect(await wait(200)).toBe(1);
    await first.correct("tokens", 0);
    expect(await wait(700)).toBe(1);
    expect(await wait(800)).toBeGreaterThan(50);
    await second.correct("tokens", -50);
    await second.correct("tokens", 50);
    expect(await wait(200)).toBeGreaterThan(50);
  });

  test("a correction that comes after its window changes nothing", async () => {
    const { limiter, pass } = await make();
    const late = await admitted(limiter, [request("tokens", "org", 1_000, 900)]);
    await pass(WINDOW_MS * 1.1);
    await admitted(limiter, [request("tokens", "org", 1_000, 950)]);
    late.correct("tokens", -900);
    expect((await limiter.take([request("tokens", "org", 1_000, 0)])).windows[0]?.remaining).toBe(50);
  });
}

export function request(
  quantity: LimitRequest["quantity"],
  owner: string,
  limit: number,
  amount = 1,
): LimitRequest {
  return { quantity, scope: "organization", owner, limit, amount };
}

export async function admitted(limiter: Limiter, requests: LimitRequest[]): Promise<LimitReservation> {
  const verdict = await limiter.take(requests);
  if (!verdict.isAdmitted) throw new Error(`refused by ${verdict.failed.quantity}`);
  return verdict.reservation;
}

export async function isAdmitted(limiter: Limiter, requests: LimitRequest[]): Promise<boolean> {
  return (await limiter.take(requests)).isAdmitted;
}

export async function count(limiter: Limiter, requests: LimitRequest[], tries: number): Promise<number> {
  const verdicts: LimitVerdict[] = await Promise.all(
    Array.from({ length: tries }, () => limiter.take(requests)),
  );
  return verdicts.filter((verdict) => verdict.isAdmitted).length;
}

export async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!(await isMet())) {
    if (performance.now() > deadline) throw new Error("the condition was not met within five seconds");
    await Bun.sleep(10);
  }
}
