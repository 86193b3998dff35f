import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { YAML } from "bun";
import { fileSchema } from "../../src/config/file-schema.ts";
import { readStrictly } from "../../src/domain/schema-problems.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";
import { expectOnPages } from "./exceptions.ts";
import { type Fence, PAGES, ROOT } from "./pages.ts";

/*
 * Every code block of the documents has a comment above it, the mark. The mark says how the block is tested:
 * - `run`: runs the block in the order of the page, with only its address changed. The block must exit with 0.
 *   All pages share one gateway. A page's commands share variables and a folder with `photo.png` and `mask.png`.
 *   The environment has `GATEWAY_KEY` and `WEBHOOK_SECRET`. The ledger has the charge of the request `req_0123`.
 *   `curl` fails on a status of 400 or above.
 * - `prints`: compares the block with the output of the preceding block; `…` matches any text.
 * - `check`: checks the syntax. In a configuration, also checks keys and values by the file's schema.
 * - `run by test/…`: runs the block in that test file.
 * - `client: name`: `npm run clients` sets up the named program with this block.
 * - `nginx`, `haproxy`: a test of this balancer runs it with the block.
 * - `not run: reason`: the block has no test.
 */
const SHOWN_ADDRESS = "http://127.0.0.1:8080";
/** A fixed value that replaces the secret which `webhooks add` prints. */
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const RUN_LANGUAGES = ["sh", "bash", "ts", "js", "python"];
const CHECKED_LANGUAGES = ["sh", "bash", "ts", "js", "python", "json", "jsonc", "toml", "yaml"];

let gateway: TestGateway;
/** Runs the gateway's commands in this process, which is far faster than a process for each command. */
let commands: Bun.Server<undefined>;
/** A folder inside the project, so that examples find the project's dependencies. */
let folder: string;

beforeAll(async () => {
  mkdirSync(join(ROOT, ".test-tmp"), { recursive: true });
  folder = mkdtempSync(join(ROOT, ".test-tmp/documents-"));
  gateway = await startTestGateway();
  await makeCharge();
  commands = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: runOwnCommand });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await commands.stop(true);
  await gateway[Symbol.asyncDispose]();
});

/** Creates the charge that the pages about the ledger query. */
async function makeCharge(): Promise<void> {
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "Say hello." }] };
  await gateway.call("/v1/chat/completions", { body, headers: { "x-request-id": "req_0123" } });
  await gateway.charged("req_0123");
}

test("every code block is run, checked, or says why not", () => {
  expectOnPages("every code block is run, checked, or says why not", PAGES, ({ fences }) =>
    fences.flatMap((fence, index) => {
      const problem = problemOf(fence, fences[index - 1]);
      return problem === null ? [] : [`line ${fence.line}: ${problem}`];
    }),
  );
});

const runnable = PAGES.filter(({ fences }) => fences.some(({ mark }) => mark === "run"));

test.each(runnable.map((page) => [page.path, page] as const))(
  "the blocks of %s run",
  async (path, { fences }) => {
    const home = join(folder, path.replaceAll(/\W/g, "-"));
    mkdirSync(home);
    await Bun.write(join(home, "photo.png"), makePng(64, 48));
    await Bun.write(join(home, "mask.png"), makePng(64, 48));
    for (const [index, fence] of fences.entries()) {
      if (fence.mark !== "run") continue;
      const command = await commandOf(fence, home);
      if (command === null) continue;
      const { code, output, errors } = await run(command, home);
      expect({ line: fence.line, code, errors, output }).toMatchObject({ line: fence.line, code: 0 });
      const next = fences[index + 1];
      if (next?.mark === "prints") expect(output).toMatch(outputOf(next));
    }
  },
  60_000,
);

test("blocks that are only checked are well formed", async () => {
  const checked = PAGES.flatMap(({ fences }) => fences).filter(({ mark }) => mark === "check");
  for (const fence of checked) {
    const problem = await formProblem(fence).catch((error: unknown) => String(error));
    expect([`${fence.page}:${fence.line}`, problem]).toEqual([`${fence.page}:${fence.line}`, null]);
  }
});

/** Returns the fault of a block's mark, or null for none. */
function problemOf({ mark, language }: Fence, before: Fence | undefined): string | null {
  if (mark === null) return `a ${language || "plain"} block without a mark`;
  if (mark === "run") return RUN_LANGUAGES.includes(language) ? null : `"${language}" cannot be run`;
  if (mark === "check")
    return CHECKED_LANGUAGES.includes(language) ? null : `"${language}" cannot be checked`;
  if (mark === "prints") return before?.mark === "run" ? null : "no block that runs is before it";
  const runner = /^run by (test\/\S+)$/.exec(mark)?.[1];
  if (runner !== undefined) return existsSync(join(ROOT, runner)) ? null : `there is no ${runner}`;
  return /^(?:not run: \S.+|client: \S.+|nginx|haproxy)$/.test(mark) ? null : `"${mark}" is no mark`;
}

/** Returns the command that runs a block. Null for Python whose packages are missing: it is only checked. */
async function commandOf({ language, code, page, line }: Fence, home: string): Promise<string[] | null> {
  const own = code.replaceAll(SHOWN_ADDRESS, gateway.url);
  if (language === "sh" || language === "bash") {
    await Bun.write(join(home, "block.sh"), own);
    return ["bash", "-ec", PRELUDE];
  }
  const path = join(home, `block-${line}.${language === "python" ? "py" : "ts"}`);
  await Bun.write(path, own);
  if (language !== "python") return [process.execPath, path];
  const imports = [...own.matchAll(/^(?:import|from) ([\w.]+)/gm)].map(([, name = ""]) => name);
  const { code: missing, errors } = await run([...PYTHON_SYNTAX(path), ...imports], home);
  expect([`${page}:${line}`, errors]).toEqual([`${page}:${line}`, ""]);
  return missing === 0 ? ["python3", path] : null;
}

/** Shell commands that run `block.sh` with the variables of the earlier blocks. */
const PRELUDE = `
curl() { command curl --fail-with-body --silent --show-error "$@"; }
npm() { while [ "$1" != -- ]; do shift; done; shift; { env -0; printf '%s\\0' --; printf '%s\\0' "$@"; } | curl --data-binary @- "$COMMANDS"; }
if [ -f .state ]; then . ./.state; fi
set -a
. ./block.sh
export -p > .state`;

async function runOwnCommand(request: Request): Promise<Response> {
  const words = (await request.text()).split("\0").slice(0, -1);
  const end = words.indexOf("--");
  const env = Object.fromEntries(
    words.slice(0, end).map((word) => word.split(/=([^]*)/) as [string, string]),
  );
  const args = words.slice(end + 1);
  const { code, stdout, stderr } = await runCommand(args, { ...MACHINE, env, cwd: env["PWD"] ?? folder });
  return new Response(`${stdout}${stderr}`, { status: code === 0 ? 200 : 400 });
}

/** Compiles a Python file. Exits with 1 if a named module is missing. Loads no modules, because that is slow. */
const PYTHON_SYNTAX = (path: string) => [
  "python3",
  "-c",
  `import sys
from importlib.util import find_spec
compile(open(sys.argv[1]).read(), "block", "exec")
sys.exit(any(find_spec(name.split(".")[0]) is None for name in sys.argv[2:]))`,
  path,
];

async function run(cmd: string[], cwd: string): Promise<{ code: number; output: string; errors: string }> {
  const env = {
    PATH: process.env["PATH"],
    GATEWAY_KEY: gateway.key,
    GATEWAY_DATA_DIR: gateway.dataDirectory,
    COMMANDS: commands.url.href,
    HOME: cwd,
    WEBHOOK_SECRET,
    // Folder with the packages of the Python examples, needed if Python does not find them itself.
    PYTHONPATH: process.env["PYTHONPATH"] ?? "",
    PORT: "0",
  };
  const child = Bun.spawn({ cmd, cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output, errors };
}

/** Returns a pattern for the output that a block contains. White space may differ. */
function outputOf({ code }: Fence): RegExp {
  const words = code
    .trim()
    .split(/\s+/)
    .map((word) => RegExp.escape(word).replaceAll("…", "[^]*?"));
  return new RegExp(words.join("\\s*"));
}

/** Returns or throws the fault in the form of a block. Returns null for none. */
async function formProblem({ language, code, line }: Fence): Promise<string | null> {
  switch (language) {
    case "json":
      JSON.parse(code);
      return null;
    case "jsonc":
      Bun.JSONC.parse(code);
      return null;
    case "toml":
      Bun.TOML.parse(code);
      return null;
    case "yaml":
      return configurationProblem(YAML.parse(code));
    case "python": {
      const path = join(folder, `check-${line}.py`);
      await Bun.write(path, code);
      return (await run(PYTHON_SYNTAX(path), folder)).errors || null;
    }
    case "sh":
    case "bash":
      return (await run(["bash", "-nc", code], folder)).errors || null;
    default:
      new Bun.Transpiler({ loader: "ts" }).transformSync(code);
      return null;
  }
}

/** Returns the fault of a configuration file or a part of one. Null for none, and for other YAML. */
function configurationProblem(content: unknown): string | null {
  const keys = Object.keys(Object(content));
  if (!keys.every((key) => key in fileSchema.shape)) return null;
  const read = readStrictly(fileSchema, content);
  return "problems" in read ? JSON.stringify(read.problems) : null;
}
