import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { signIn } from "../support/administration.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";

/* Runs the console's examples unchanged in each language. */
const ROOT = resolve(import.meta.dir, "../..");
/** A folder inside the project, so that examples find the project's dependencies. */
const FOLDER = join(ROOT, ".test-tmp");
type Example = { label: string; code: string };
type GatewayCall = { method: string; path: string; body: object };
// The path is computed, so that the compiler does not check the files, which need a browser's types.
const AREAS = join(ROOT, "src/console/areas");
const { keySnippets } = (await import(join(AREAS, "keys/snippets.ts"))) as {
  keySnippets(secret: string, kind: string, model: string, origin: string): Example[];
};
const { snippetsOf } = (await import(join(AREAS, "playground/snippets.ts"))) as {
  snippetsOf(call: GatewayCall, base: string): Example[];
};
const HELLO = { role: "user", content: 'Say it\'s "done"' };

const COMMANDS: Readonly<Record<string, [file: string, command: (path: string) => string[]]>> = {
  curl: ["example.sh", (path) => ["sh", path]],
  Python: ["example.py", (path) => ["python3", path]],
  TypeScript: ["example.ts", (path) => [process.execPath, path]],
};

const json = (path: string, value: object): GatewayCall => ({
  method: "POST",
  path,
  body: { kind: "json", value },
});
const fileName = "ref.png";
const CALLS: [string, GatewayCall][] = [
  ["a chat", json("/v1/chat/completions", { model: "sandbox-chat", messages: [HELLO] })],
  ["a stream", json("/v1/chat/completions", { model: "sandbox-chat", messages: [HELLO], stream: true })],
  ["a message", json("/v1/messages", { model: "sandbox-chat", max_tokens: 50, messages: [HELLO] })],
  ["a picture", json("/v1/images/generations", { model: "sandbox-a", prompt: "a pier", n: 1 })],
  [
    "an edit",
    {
      method: "POST",
      path: "/v1/images/edits",
      body: {
        kind: "form",
        fields: [
          ["model", "sandbox-a"],
          ["prompt", "a pier, it's dawn"],
          ["image[]", { blob: new Blob(), fileName }],
        ],
      },
    },
  ],
];

const hasPython = Bun.which("python3") !== null;
if (!hasPython) console.warn("SKIPPED: examples in Python: python3 is not on PATH");

describe("examples of the console", () => {
  let gateway: TestGateway;
  let folder: string;
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    folder = mkdtempSync(join(FOLDER, "example-"));
    gateway = await startTestGateway();
    await Bun.write(join(folder, fileName), makePng(64, 64));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await gateway[Symbol.asyncDispose]();
  });

  const run = async (label: string, code: string): Promise<string> => {
    const [file, command] = COMMANDS[label] ?? [];
    if (!file || !command) throw new Error(`no way to run ${label}`);
    // The test suite has aliases of packages, which readers do not have.
    for (const [, name = ""] of code.matchAll(/^import .* from "(.*)";$/gm))
      expect(name).toMatch(/^(openai|node:\w+)$/);
    await Bun.write(join(folder, file), code);
    const child = Bun.spawn({
      cmd: command(join(folder, file)),
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        GATEWAY_KEY: gateway.key,
        PYTHONPATH: join(ROOT, "test/support/python"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, errors, exit] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    expect({ exit, output, errors: label === "curl" ? "" : errors }).toMatchObject({ exit: 0, errors: "" });
    return output;
  };

  test.skipIf(!hasPython).each(["ai:llm", "ai:image"])(
    "a new key's examples for the scope %s run, with a model that answers",
    async (scope) => {
      const administrator = await signIn(gateway);
      const made = await administrator.act("POST", "/keys", {
        organizationId: "default",
        name: `for ${scope}`,
        scopes: [scope],
      });
      const { model, kind } = await administrator.act("GET", `/keys/${made.key.id}/example`);
      expect(kind).toBe(scope === "ai:llm" ? "text" : "image");
      for (const { label, code } of keySnippets(made.secret, kind, model, gateway.url)) {
        const output = await run(label, code);
        expect(output).toMatch(kind === "text" ? /\w/ : /http:\/\/127/);
        expect(output).not.toContain('"error"');
      }
    },
  );

  test.skipIf(!hasPython).each(CALLS)("%s runs as the playground shows it", async (_, call) => {
    for (const { label, code } of snippetsOf(call, gateway.url)) {
      const output = await run(label, code);
      expect(output.length).toBeGreaterThan(50);
      expect(output).not.toContain('"error"');
    }
  });
});
