import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { newSecret } from "../../src/lib/secret.ts";
import { until } from "../support/gateway.ts";
import { freePort } from "../support/free-port.ts";

/* `npm start` as in the README and in containers: signals are sent to npm, not to the gateway. */
const ROOT = resolve(import.meta.dir, "../..");
const folder = await mkdtemp(join(tmpdir(), "npm-start-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("SIGTERM to npm start drains the gateway and exits with 0", async () => {
  const port = freePort();
  const key = newSecret();
  const url = `http://127.0.0.1:${port}`;
  const npm = Bun.spawn(["npm", "start"], {
    cwd: ROOT,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      PORT: String(port),
      GATEWAY_DATA_DIR: join(folder, "data"),
      GATEWAY_BOOTSTRAP_KEY: key,
      SANDBOX_TOKENS_PER_SECOND: "40",
    },
    stdout: "ignore",
    stderr: "ignore",
  });
  await until("the gateway", () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    ),
  );
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "sandbox-chat",
      stream: true,
      messages: [{ role: "user", content: "Answer in 40 words." }],
    }),
  });
  expect(response.status).toBe(200);
  npm.kill("SIGTERM");
  expect(await response.text()).toEndWith("data: [DONE]\n\n");
  expect(await npm.exited).toBe(0);
  expect(await fetch(url).catch(() => "refused")).toBe("refused");
}, 30_000);
