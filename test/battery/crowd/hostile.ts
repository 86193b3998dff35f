/**
 * Runs one attack in a separate process. The argument is a JSON object of type `HostileOrder`. Prints `HostileFigures`.
 */
import type { AttackContext } from "./attack.ts";
import { ATTACKS } from "./attacks.ts";

export interface HostileOrder extends Pick<AttackContext, "url" | "keys" | "revokedLink"> {
  attack: string;
  seconds: number;
}

export interface HostileFigures {
  sent: number;
  /** Number of times that each forbidden result was reached. Harm to honest callers is measured separately. */
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
  // An attack that ignores its signal ends with this process.
  await Promise.race([running, ended.then(() => Bun.sleep(1_000))]);
  return figures;
}
