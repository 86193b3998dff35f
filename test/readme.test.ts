import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startTestGateway, until, type TestGateway } from "./support/gateway.ts";

/* Runs the snippets of the README unchanged, except for the address. */
const ROOT = resolve(import.meta.dir, "..");
const SHOWN_ADDRESS = "http://127.0.0.1:8080";
/** A folder of the project, so that snippets find its dependencies. */
const SNIPPETS = join(ROOT, ".test-tmp");

const page = await Bun.file(join(ROOT, "README.md")).text();
const scripts = marked("run", "ts");
const commands = marked("run", "sh").flatMap((block) => block.trim().split("\n"));

let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  mkdirSync(SNIPPETS, { recursive: true });
  folder = mkdtempSync(join(SNIPPETS, "readme-"));
  gateway = await startTestGateway();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await gateway[Symbol.asyncDispose]();
});

test("the two commands come first", () => {
  const first = /```sh\n([\s\S]*?)```/.exec(page)?.[1];
  expect(first).toBe("npm ci && npm start\nnpm ci && npm test\n");
});

test.each(scripts.map((script, index) => [index + 1, script] as const))(
  "client snippet %p runs and prints something",
  async (index, script) => {
    const path = join(folder, `snippet-${index}.ts`);
    await Bun.write(path, script.replaceAll(SHOWN_ADDRESS, gateway.url));
    const { code, output, errors } = await run([process.execPath, path], { GATEWAY_KEY: gateway.key });
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    expect(output.trim()).not.toBe("");
  },
);

test("the commands of administration work one after the other", async () => {
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) {
    const shell = command.replace(/^npm start --/, `"${process.execPath}" src/main.ts`);
    const data = { GATEWAY_DATA_DIR: gateway.dataDirectory };
    const { code, errors, output } = await run(["sh", "-c", shell], data);
    expect({ command, code, errors }).toEqual({ command, code: 0, errors: "" });
    expect(output.trim()).not.toBe("");
  }
  // Containers do not set the variable USER.
  const user = (await run(["id", "-un"], {})).output.trim();
  const list = [process.execPath, "src/main.ts", "audit", "list", "--json"];
  const { output } = await run(list, { GATEWAY_DATA_DIR: gateway.dataDirectory });
  expect(JSON.parse(output)[0]).toMatchObject({ actor: user });
}, 60_000);

test.each(marked("check", "yaml"))(
  "the example of a channel is a configuration that serves: %#",
  async (yaml) => {
    const env = { HOUSE_API_KEY: "house-key-for-tests" };
    await using other = await startTestGateway({ yaml, env });
    const response = await other.call("/v1/models/house-chat");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: "house-chat", type: "chat" });
  },
);

test("a first start prints a curl that gives a picture, also after one whose port was taken", async () => {
  const data = mkdtempSync(join(tmpdir(), "gateway-first-"));
  const start = (port: string) =>
    Bun.spawn({
      cmd: [process.execPath, join(ROOT, "src/main.ts")],
      cwd: data,
      env: { PATH: process.env["PATH"], PORT: port, GATEWAY_DATA_DIR: join(data, "data") },
      stdio: ["ignore", "ignore", "pipe"],
    });
  expect(await start(new URL(gateway.url).port).exited).toBe(1);
  const child = start("0");
  try {
    let said = "";
    void (async () => {
      for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) said += piece;
    })();
    const curl = await until("the printed curl", () => /^ {2}(curl [\s\S]*?'\{.*\}')$/m.exec(said)?.[1]);
    const answer = JSON.parse((await run(["sh", "-c", `${curl} -s`], {})).output);
    expect(answer.model).toBe("sandbox-a");
    const picture = await fetch(answer.data[0].url);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    rmSync(data, { recursive: true, force: true });
  }
});

test("the curl of the page does the same", async () => {
  const curl = /```sh\n(curl [\s\S]*?)```/.exec(page)?.[1] ?? "";
  const shell = curl.trim().replaceAll(SHOWN_ADDRESS, gateway.url);
  const { output } = await run(["sh", "-c", `${shell} -s`], { GATEWAY_KEY: gateway.key });
  expect(JSON.parse(output)).toMatchObject({ model: "sandbox-a", data: [{ url: expect.any(String) }] });
});

/** Code blocks of a language behind a mark such as `<!-- run -->`. */
function marked(mark: string, language: string): string[] {
  const blocks = new RegExp(`<!-- ${mark} -->\\n+\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g");
  return [...page.matchAll(blocks)].map(([, block]) => block ?? "");
}

async function run(
  cmd: string[],
  env: Record<string, string>,
): Promise<{ code: number; output: string; errors: string }> {
  const child = Bun.spawn({
    cmd,
    cwd: ROOT,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output, errors };
}
