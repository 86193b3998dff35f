import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startTestGateway, until, type TestGateway } from "./support/gateway.ts";

/* Checks the statements of the README. Its code blocks are tested together with the code blocks of all documents. */
const ROOT = resolve(import.meta.dir, "..");
const SHOWN_ADDRESS = "http://127.0.0.1:8080";

const page = await Bun.file(join(ROOT, "README.md")).text();

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test("the two commands come first", () => {
  const first = /```sh\n([\s\S]*?)```/.exec(page)?.[1];
  expect(first).toBe("npm ci && npm start\nnpm ci && npm test\n");
});

test("a command leaves the system's user in the audit, also where the variable USER is not set", async () => {
  const data = { GATEWAY_DATA_DIR: gateway.dataDirectory };
  await run([process.execPath, "src/main.ts", "orgs", "set", "default", "--name", "Default"], data);
  const user = (await run(["id", "-un"], {})).output.trim();
  const { output } = await run([process.execPath, "src/main.ts", "audit", "list", "--json"], data);
  expect(JSON.parse(output)[0]).toMatchObject({ actor: user });
});

test("the example of a channel is a configuration that serves", async () => {
  const yaml = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? "";
  await using other = await startTestGateway({ yaml, env: { HOUSE_API_KEY: "house-key-for-tests" } });
  const response = await other.call("/v1/models/house-chat");
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ id: "house-chat", type: "chat" });
});

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
