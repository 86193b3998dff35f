/**
 * One attack with one key in its own process. Argument: a JSON object of type `HostileOrder`. Prints `HostileFigures`
 * and ends.
 */
import type { AttackContext } from "./attack.ts";
import { ATTACKS } from "./attacks.ts";

export interface HostileOrder extends Pick<AttackContext, "url" | "keys" | "revokedLink"> {
  attack: string;
  seconds: number;
}

export interface HostileFigures {
  sent: number;
  /** Successes of the attack besides harm to honest callers, with their counts. */
  achieved: Record<string, number>;
}

if (import.meta.main) {
  console.log(JSON.stringify(await runAttack(JSON.parse(process.argv[2] ?? "{}"))));
  process.exit(0);
}

async function runAttack({ attack, seconds, ...order }: HostileOrder): Promise<HostileFigures> {
  const found = ATTACKS.find(({ name }) => name === attack);
  if (!found) throw new Error(`there is no attack ${attack}`);
  const figures: HostileFigures = { sent: 0, achieved: {} };
  const signal = AbortSignal.timeout(seconds * 1000);
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  const running = found.run({
    ...order,
    signal,
    achieve: (what) => (figures.achieved[what] = (figures.achieved[what] ?? 0) + 1),
    count: () => (figures.sent += 1),
  });
  // An attack that does not stop in time ends with this process.
  await Promise.race([running, ended.then(() => Bun.sleep(1_000))]);
  return figures;
}
