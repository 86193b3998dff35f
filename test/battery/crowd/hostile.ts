/**
 * One attack with one key, in a process of its own. Argument: a JSON object of `HostileOrder`. Prints `HostileFigures`
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
  /** What was achieved beside harm to honest callers, with how often. */
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
  // An attack that stalls at its end ends with its process.
  await Promise.race([running, ended.then(() => Bun.sleep(1_000))]);
  return figures;
}
