import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { copyTree, countInFile, endGroup } from "../support/tree-copy.ts";
import { CROWD_EXIT } from "./crowd.ts";
import { ATTACKS } from "./crowd/attacks.ts";
import { MENDS, type Mend } from "./mends.ts";

/** The result of an attack on a program without the attack's protection. Only `hurt` proves the protection. */
interface Outcome {
  attack: string;
  result: "hurt" | "NOT HURT" | "BROKEN";
  seconds: number;
  /** The first violation, or the reason why the run failed. */
  detail: string;
}

/** Duration that lets attacks reach the time limit of a body. */
export const UNMENDED_SECONDS = 10;
const LIMIT_MS = 180_000;

/**
 * Removes the protection against each attack from a copy of the program, and runs the attack there. Returns true when
 * every attack did harm. A quiet run first proves that the attack is the cause.
 */
export async function runWithoutMends(
  names: readonly string[] | undefined,
  seconds: number,
): Promise<boolean> {
  const problems = await problemsOf(MENDS);
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) return false;
  const copy = await copyTree();
  try {
    const outcomes: Outcome[] = [];
    for (const mend of MENDS.filter(({ attack }) => names?.includes(attack) ?? true)) {
      const outcome = await tryWithout(copy, mend, seconds);
      console.log(lineOf(outcome));
      outcomes.push(outcome);
    }
    const bad = outcomes.filter(({ result }) => result !== "hurt");
    console.log(`\n${outcomes.length} mends taken out, ${outcomes.length - bad.length} attacks seen to hurt`);
    for (const outcome of bad) console.log(lineOf(outcome));
    return bad.length === 0;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Returns a sentence for each fault of the table itself. */
export async function problemsOf(mends: readonly Mend[]): Promise<string[]> {
  const missing = ATTACKS.filter(
    ({ name }) => name.startsWith("H") && !mends.some(({ attack }) => attack === name),
  ).map(({ name }) => `${name}: has no mend`);
  const unknown = mends
    .filter(({ attack }) => !ATTACKS.some(({ name }) => name === attack))
    .map(({ attack }) => `${attack}: is no attack`);
  const places = await Promise.all(
    mends.flatMap(({ attack, edits }) =>
      edits.map(async ({ file, find }) => {
        const count = await countInFile(file, find);
        return count === 1 ? [] : [`${attack}: found ${count} times in ${file}: ${find}`];
      }),
    ),
  );
  return [...missing, ...unknown, ...places.flat()];
}

async function tryWithout(copy: string, { attack, edits }: Mend, seconds: number): Promise<Outcome> {
  const originals = new Map<string, string>();
  const startedAt = performance.now();
  try {
    for (const { file, find, replace } of edits) {
      const text = await readFile(join(copy, file), "utf8");
      if (!originals.has(file)) originals.set(file, text);
      // The replacement is a function, because a replacement text would interpret `$`.
      await writeFile(
        join(copy, file),
        text.replace(find, () => replace),
      );
    }
    const { code, output } = await runCopy(copy, attack, seconds);
    const detail = /^ {4}(\S.*)$/m.exec(output)?.[1] ?? output.slice(-500);
    const result = code === CROWD_EXIT.hurt ? "hurt" : code === CROWD_EXIT.unhurt ? "NOT HURT" : "BROKEN";
    return { attack, result, seconds: (performance.now() - startedAt) / 1000, detail };
  } finally {
    for (const [file, text] of originals) await writeFile(join(copy, file), text);
  }
}

/** Runs the crowd in the copy. After a time limit, kills the crowd and all its child processes. */
async function runCopy(
  copy: string,
  attack: string,
  seconds: number,
): Promise<{ code: number; output: string }> {
  const program = join(copy, "test/battery/crowd.ts");
  const child = Bun.spawn([process.execPath, program, "--only", attack, "--seconds", String(seconds)], {
    cwd: copy,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const limit = setTimeout(() => endGroup(child.pid), LIMIT_MS);
  const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  clearTimeout(limit);
  endGroup(child.pid);
  return { code, output: texts.join("") };
}

function lineOf({ attack, result, seconds, detail }: Outcome): string {
  return `${attack.padEnd(16)} ${result.padEnd(9)} ${seconds.toFixed(0).padStart(4)} s  ${detail.slice(0, 140)}`;
}
