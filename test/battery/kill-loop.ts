import { killRounds, seeded } from "../support/kill-rounds.ts";

/*
 * Kills the gateway under load many times: `bun test/battery/kill-loop.ts [rounds] [seed]`. Prints a report; exit code
 * 1 when a charge is wrong.
 */
const rounds = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
console.log(`${rounds} rounds, seed ${seed}`);
const report = await killRounds(rounds, seeded(seed));
console.log(report);
const broken = Object.values(report).filter((value) => Array.isArray(value) && value.length > 0);
process.exitCode = broken.length > 0 ? 1 : 0;
