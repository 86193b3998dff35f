import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, PHONE, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";

/* Requests, jobs, models and providers on a phone, with something on each of them. */
describe.skipIf(chromium === null)("an operator's pages on a phone", () => {
  let console: TestConsole;
  let job = "";
  beforeAll(async () => {
    console = await startTestConsole({ viewport: PHONE });
    const body = { model: "sandbox-a", prompt: "A harbour" };
    const headers = { "x-request-id": "harbour" };
    await (await console.gateway.call("/v1/images/generations", { body, headers })).text();
    job = ((await (await console.gateway.call("/api/jobs", { body })).json()) as { id: string }).id;
    await console.gateway.charged("harbour");
    await until("the job's end", async () => {
      const state = (await (await console.gateway.call(`/api/jobs/${job}`)).json()) as { status: string };
      return state.status === "completed" || undefined;
    });
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  const PAGES = [
    ["/requests", "sandbox-a"],
    ["/requests/harbour", "Charged"],
    ["/jobs", "sandbox-a"],
    ["/jobs/{job}", "Charged"],
    ["/models?search=sandbox-a", "Sandbox A"],
    ["/models/detail?model=sandbox-a", "Called first"],
    ["/models/providers", "In service"],
    ["/models/providers/add", "OpenAI"],
    ["/models/providers/add?provider=bedrock", "Region"],
    ["/models/providers/sandbox", "In service"],
  ] as const;
  for (const [path, text] of PAGES)
    test(`${path} can be used by anybody, and neither moves nor overflows`, async () => {
      await console.open(path.replace("{job}", job));
      await console.see(text);
      expect(await console.accessibilityFindings()).toEqual([]);
      expect(await console.layoutShift()).toBeLessThanOrEqual(0.05);
      const overflow = `document.documentElement.scrollWidth <= document.documentElement.clientWidth`;
      expect(await console.page.evaluate(overflow)).toBe(true);
      expect(console.problems).toEqual([]);
    });
});
