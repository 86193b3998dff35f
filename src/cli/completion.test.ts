import { expect, test } from "bun:test";
import type { CliContext } from "./context.ts";
import { runCli } from "./index.ts";

async function scriptFor(shell: string): Promise<string> {
  let script = "";
  const stdout = {
    write(text: string, onWritten?: () => void) {
      script += text;
      onWritten?.();
    },
  };
  const context = { stdout, stderr: stdout, env: {} } as unknown as CliContext;
  expect(await runCli(["completion", shell], context)).toBe(0);
  return script;
}

/** Runs a shell with a script as standard input. Returns the output. */
async function ask(command: string[], script: string): Promise<string> {
  const child = Bun.spawn(command, { stdin: new Blob([script]), stdout: "pipe", stderr: "pipe" });
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect({ errors, code }).toEqual({ errors: "", code: 0 });
  return output;
}

/** Typed words, the last of which is completed; candidates that must be offered; candidates that must not be. */
const TYPED: readonly (readonly [words: string, offered: readonly string[], others: readonly string[]])[] = [
  ["gateway ke", ["keys"], ["ledger", "--help"]],
  ["gateway keys cr", ["create"], ["keys", "list"]],
  ["gateway keys create --na", ["--name"], ["--config"]],
  ["gateway --config list keys cr", ["create"], []],
  ["gateway ledger export --format ", ["csv", "jsonl"], ["--org"]],
  ["gateway ledger export --org acme --fo", ["--format"], []],
  ["gateway budgets create --period ", ["day", "month", "total"], ["--org"]],
  ["gateway completion ", ["bash", "zsh", "fish"], ["keys"]],
  ["gateway jobs list --u", ["--url"], []],
];

test("bash completes commands, options and their words", async () => {
  const script = await scriptFor("bash");
  const asked = TYPED.map(([words]) => {
    const all = words.split(" ").map((word) => `'${word}'`);
    return `COMP_WORDS=(${all.join(" ")}); COMP_CWORD=${all.length - 1}; _gateway; echo "\${COMPREPLY[*]}"\n`;
  });
  const lines = (await ask(["bash"], script + asked.join(""))).trimEnd().split("\n");
  for (const [index, [words, offered, others]] of TYPED.entries()) {
    const candidates = lines[index]?.split(" ") ?? [];
    expect(candidates, words).toEqual(expect.arrayContaining([...offered]));
    expect(
      others.filter((other) => candidates.includes(other)),
      words,
    ).toEqual([]);
  }
});

// CI has only bash. An installed zsh checks its script, and an installed fish completes a word.
test("zsh and fish take their scripts", async () => {
  if (Bun.which("zsh")) expect(await ask(["zsh", "-n"], await scriptFor("zsh"))).toBe("");
  if (!Bun.which("fish")) return;
  const script = await scriptFor("fish");
  for (const [words, offered] of TYPED) {
    const lines = (await ask(["fish"], `${script}\ncomplete -C '${words}'\n`)).split("\n");
    const candidates = lines.map((line) => line.split("\t")[0]);
    expect(candidates, words).toEqual(expect.arrayContaining([...offered]));
  }
});
