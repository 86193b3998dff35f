import { expect, test } from "bun:test";
import type { Limiter, LimitTicket, LimitVerdict, LimitWish } from "../../src/gateway/admission/limits.ts";

/** Short, so that a driver on a real clock need not wait a minute. */
export const WINDOW_MS = 1_000;

export interface Subject {
  limiter: Limiter;
  /** Lets time go by: turned by hand on a fake clock, waited for on a real one. */
  pass(durationMs: number): Promise<void>;
}

/** What every limiter keeps, whatever it counts in. */
export function contract(make: () => Subject | Promise<Subject>): void {
  test("exactly the limit is admitted in a window, and again when it has passed", async () => {
    const { limiter, pass } = await make();
    const asked = [wish("requests", "org", 10)];
    expect(await count(limiter, asked, 25)).toBe(10);
    await pass(WINDOW_MS / 2);
    expect(await count(limiter, asked, 5)).toBe(0);
    await pass(WINDOW_MS / 2 + WINDOW_MS / 20);
    expect(await count(limiter, asked, 25)).toBe(10);
  });

  test("the window slides: room comes back as each use leaves it, not all at a boundary", async () => {
    const { limiter, pass } = await make();
    const asked = [wish("images", "org", 6, 2)];
    await admitted(limiter, asked);
    await pass(WINDOW_MS / 2);
    await admitted(limiter, asked);
    await admitted(limiter, asked);
    await pass(WINDOW_MS / 2 + WINDOW_MS / 15);
    expect(await count(limiter, asked, 3)).toBe(1);
  });

  test("all or none: a wish that fails leaves the others uncounted, and is named", async () => {
    const { limiter } = await make();
    await admitted(limiter, [wish("tokens", "org", 100, 90)]);
    const wishes = [
      wish("requests", "org", 5),
      wish("tokens", "org", 100, 20),
      wish("concurrent_images", "org", 5),
    ];
    for (let index = 0; index < 5; index++) {
      const verdict = await limiter.take(wishes);
      expect(verdict).toMatchObject({ isAdmitted: false, failed: wishes[1], retryAfterSeconds: 1 });
    }
    expect(await count(limiter, [wish("requests", "org", 5)], 10)).toBe(5);
    expect(await count(limiter, [wish("concurrent_images", "org", 5)], 10)).toBe(5);
  });

  test("the windows tell limit, remaining and reset of each minute wish in order", async () => {
    const { limiter } = await make();
    const verdict = await limiter.take([
      wish("requests", "org", 5),
      wish("concurrent_images", "org", 2),
      wish("tokens", "org", 1_000, 300),
    ]);
    expect(verdict.windows).toEqual([
      { quantity: "requests", limit: 5, remaining: 4, resetSeconds: 1 },
      { quantity: "tokens", limit: 1_000, remaining: 700, resetSeconds: 1 },
    ]);
  });

  test("owners, scopes and quantities are counted apart", async () => {
    const { limiter } = await make();
    const other: LimitWish = { ...wish("requests", "org", 1), scope: "key" };
    for (const asked of [
      wish("requests", "org", 1),
      wish("requests", "two", 1),
      wish("images", "org", 1),
      other,
    ]) {
      expect(await count(limiter, [asked], 3)).toBe(1);
    }
  });

  test("places bound what runs at once and are free again when released", async () => {
    const { limiter, pass } = await make();
    const asked = [wish("concurrent_images", "key", 2)];
    const first = await admitted(limiter, asked);
    await admitted(limiter, asked);
    expect(await limiter.take(asked)).toMatchObject({ isAdmitted: false, retryAfterSeconds: 5 });
    await pass(WINDOW_MS * 1.1);
    expect(await isAdmitted(limiter, asked)).toBe(false);
    first.release();
    await until(() => isAdmitted(limiter, asked));
    expect(await isAdmitted(limiter, asked)).toBe(false);
  });

  test("a correction frees what was not used and counts what was used beyond the estimate", async () => {
    const { limiter } = await make();
    const remaining = async () =>
      (await limiter.take([wish("tokens", "org", 1_000, 0)])).windows[0]?.remaining;
    const ticket = await admitted(limiter, [wish("tokens", "org", 1_000, 900)]);
    ticket.correct("tokens", -700);
    await until(async () => (await remaining()) === 800);
    ticket.correct("tokens", 900);
    await until(async () => (await remaining()) === 0);
    expect(await isAdmitted(limiter, [wish("tokens", "org", 1_000, 1)])).toBe(false);
  });

  test("a correction that comes after its window takes nothing from others", async () => {
    const { limiter, pass } = await make();
    const late = await admitted(limiter, [wish("tokens", "org", 1_000, 900)]);
    await pass(WINDOW_MS * 1.1);
    await admitted(limiter, [wish("tokens", "org", 1_000, 950)]);
    late.correct("tokens", -900);
    expect((await limiter.take([wish("tokens", "org", 1_000, 0)])).windows[0]?.remaining).toBe(50);
  });
}

export function wish(quantity: LimitWish["quantity"], owner: string, limit: number, amount = 1): LimitWish {
  return { quantity, scope: "organization", owner, limit, amount };
}

export async function admitted(limiter: Limiter, wishes: LimitWish[]): Promise<LimitTicket> {
  const verdict = await limiter.take(wishes);
  if (!verdict.isAdmitted) throw new Error(`refused by ${verdict.failed.quantity}`);
  return verdict.ticket;
}

export async function isAdmitted(limiter: Limiter, wishes: LimitWish[]): Promise<boolean> {
  return (await limiter.take(wishes)).isAdmitted;
}

export async function count(limiter: Limiter, wishes: LimitWish[], tries: number): Promise<number> {
  const verdicts: LimitVerdict[] = await Promise.all(
    Array.from({ length: tries }, () => limiter.take(wishes)),
  );
  return verdicts.filter((verdict) => verdict.isAdmitted).length;
}

export async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!(await isMet())) {
    if (performance.now() > deadline) throw new Error("it did not come about within five seconds");
    await Bun.sleep(10);
  }
}
