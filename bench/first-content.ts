import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PredefinedNetworkConditions } from "puppeteer-core";
import { startTestConsole } from "../test/support/browser.ts";
import { MACHINE, runCommand } from "../test/support/command-line.ts";
import { spreadOf } from "./statistics.ts";

/*
 * Measures the console's first page with an empty cache and the demo's data: `bun bench/first-content.ts`. Uses
 * loopback and the browser's "Slow 4G". The first content is the first text or picture that the browser paints.
 */
const ROUNDS = 9;
const NETWORKS = { loopback: null, "slow 4G": PredefinedNetworkConditions["Slow 4G"] } as const;
const FIRST_CONTENT = `performance.getEntriesByName("first-contentful-paint")[0].startTime`;

const data = await mkdtemp(join(tmpdir(), "first-content-"));
try {
  const { stdout, stderr } = await runCommand(["demo"], {
    ...MACHINE,
    env: { GATEWAY_DATA_DIR: data },
    cwd: data,
  });
  const password = /with the password (\S+)/.exec(stdout)?.[1];
  if (password === undefined) throw new Error(stderr);
  await using shown = await startTestConsole({
    env: { GATEWAY_DATA_DIR: data, GATEWAY_ADMIN_PASSWORD: password },
  });
  await shown.signIn("admin", password);
  await shown.page.setCacheEnabled(false);
  for (const [name, conditions] of Object.entries(NETWORKS)) {
    await shown.page.emulateNetworkConditions(conditions);
    const contents: number[] = [];
    const figures: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await shown.page.goto("about:blank");
      await shown.open("/");
      figures.push(Number(await shown.page.evaluate("performance.now()")));
      contents.push(Number(await shown.page.evaluate(FIRST_CONTENT)));
    }
    console.log(`${name}: ${described("first content", contents)}; ${described("all figures", figures)}`);
  }
} finally {
  await rm(data, { recursive: true });
}

function described(what: string, times: readonly number[]): string {
  const { median, max } = spreadOf(times);
  return `${what} after ${Math.round(median)} ms, at most ${Math.round(max)} ms`;
}
