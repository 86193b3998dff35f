import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { HTTPRequest } from "puppeteer-core";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";

const MAX_SHIFT = 0.05;
const TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

describe.skipIf(chromium === null)("the console's first page", () => {
  let shown: TestConsole;
  beforeAll(async () => {
    shown = await startTestConsole();
    await shown.signIn();
  }, 30_000);
  afterAll(() => shown[Symbol.asyncDispose]());

  test("a new installation is led through its first steps", async () => {
    await shown.open("/");
    await shown.find("heading", "First steps");
    await shown.see("0 of 4 done");
    expect(await shown.accessibilityFindings()).toEqual([]);
    const links = await shown.page.$$eval("ol a", (links) => links.map((link) => link.getAttribute("href")));
    expect(links).toEqual([
      "/console/playground",
      "/console/keys",
      "/console/models/providers",
      "/console/money",
    ]);
  });

  test("a picture and a refusal are counted, charged and attributed", async () => {
    const made = await image({ model: "sandbox-a", prompt: "a lighthouse" });
    expect(made.status).toBe(200);
    expect((await image({ model: "sandbox-a", prompt: "a lighthouse", n: 99 })).status).toBe(400);
    await until("the overview to know both", async () => {
      await shown.open("/");
      const text = String(await shown.page.evaluate("document.querySelector('dl').innerText"));
      return /Requests\s+2\s/.test(text) && /Spend\s+\$0\.02/.test(text) && text.includes("1 failed")
        ? true
        : undefined;
    });
    await shown.see("Sandbox A");
    await shown.see("1 of 4 done");
    expect(await shown.accessibilityFindings()).toEqual([]);
  });

  test("nothing jumps when the numbers come", async () => {
    const { page } = shown;
    const held = Promise.withResolvers<void>();
    await page.setRequestInterception(true);
    const hold = async (request: HTTPRequest) => {
      if (request.url().includes("/admin/v1/overview")) await held.promise;
      await request.continue();
    };
    page.on("request", hold);
    const opened = shown.open("/");
    await page.waitForSelector(".animate-pulse", { visible: true });
    await page.evaluate(TWO_FRAMES);
    const expected = await top("main .grid .animate-pulse");
    held.resolve();
    await opened;
    await page.waitForSelector("main dl");
    await page.evaluate(TWO_FRAMES);
    page.off("request", hold);
    await page.setRequestInterception(false);
    // New elements in the place of others are no shift to the browser, but to the reader.
    expect(Math.abs((await top("main dl")) - expected)).toBeLessThan(16);
    expect(await shown.layoutShift()).toBeLessThanOrEqual(MAX_SHIFT);
  });

  test("a chart is read with the keyboard and as a table", async () => {
    const chart = await shown.find("group", "Spend by model: read values with the arrow keys");
    await chart.focus();
    await shown.page.keyboard.press("End");
    await shown.page.waitForFunction(`document.querySelector("figure li").innerText.includes("$0.02")`);
    await shown.page.click("figure button");
    await shown.find("table", "Spend by model");
    expect(await shown.accessibilityFindings()).toEqual([]);
  });

  test("range and grouping stand in the address", async () => {
    await shown.press("button", "7 days");
    await shown.press("button", "Keys");
    await shown.page.waitForFunction(`location.search === "?range=7d&by=keys"`);
    await shown.reload();
    expect(await shown.page.$eval("[aria-pressed=true]", (button) => button.textContent)).toBe("7 days");
  });

  test("a key alone shows its usage, models and prices, and is not kept", async () => {
    await shown.page.deleteCookie({ name: "gateway_session" });
    await shown.open("/key");
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.fill("Key of the gateway", "gk_not-a-key");
    await shown.page.keyboard.press("Enter");
    await shown.page.waitForSelector("[role=alert]");
    await shown.fill("Key of the gateway", shown.gateway.key);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Models and prices");
    await shown.see("invalid_");
    await shown.see("1K $0.04");
    expect(await shown.accessibilityFindings()).toEqual([]);
    const kept = await shown.page.evaluate("JSON.stringify([localStorage, sessionStorage, location.href])");
    expect(kept).not.toContain(shown.gateway.key);
    await shown.reload();
    await shown.find("heading", "Your key");
  });

  test("nothing was refused by the security policy or reported as an error", () => {
    expect(shown.problems).toEqual([]);
    expect([...shown.foreignHosts]).toEqual([]);
  });

  function top(selector: string): Promise<number> {
    return shown.page.$eval(selector, (element) => element.getBoundingClientRect().top);
  }

  function image(body: object): Promise<Response> {
    return shown.gateway.call("/v1/images/generations", { body });
  }
});
