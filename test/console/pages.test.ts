import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Administrator } from "../support/administration.ts";
import { layoutFindings } from "../support/layout.ts";
import { chromium, PHONE, startTestConsole, WIDE, type TestConsole } from "../support/browser.ts";

const MAX_SHIFT = 0.05;
const REFUSED = "Not for your role";
const SMALL = { width: 1024, height: 768 };

/** Pages that are opened by their address, besides the pages of a key and of a request. */
const PAGES = [
  "/",
  "/playground",
  "/playground/chat",
  "/playground/messages",
  "/requests",
  "/jobs",
  "/images",
  "/images/gallery",
  "/keys",
  "/keys/new",
  "/models",
  "/models/detail?model=sandbox-a",
  "/models/detail?model=sandbox-chat",
  "/models/providers",
  "/models/providers/add",
  "/models/providers/sandbox",
  "/models/prices",
  "/models/prices?model=sandbox-a",
  "/models/prices?model=sandbox-chat",
  "/money",
  "/money/usage",
  "/money/ledger",
  "/settings",
  "/settings/members",
  "/settings/webhooks",
  "/settings/alerts",
  "/settings/audit",
  "/settings/configuration",
  "/settings/account",
  "/key",
];

describe.skipIf(chromium === null)("every page of the console", () => {
  let shown: TestConsole;
  let administrator: Administrator;
  const pages = [...PAGES];
  beforeAll(async () => {
    shown = await startTestConsole();
    administrator = await shown.signIn();
    const key = await administrator.act("POST", "/keys", { organizationId: "default", name: "Pages" });
    const budget = { organizationId: "default", amount: "5.00", period: "month" };
    for (let count = 0; count < 4; count++) await administrator.act("POST", "/budgets", budget);
    await administrator.act("POST", "/alerts", { name: "Broken", settings: { kind: "status" } });
    const made = await shown.gateway.call("/v1/images/generations", {
      body: { model: "sandbox-a", prompt: "a lighthouse" },
    });
    pages.push(`/keys/${key.key.id}`, `/requests/${made.headers.get("x-request-id")}`);
  });
  afterAll(() => shown[Symbol.asyncDispose]());

  test.each([
    ["on a screen", WIDE, "light", "en"],
    ["on a phone", PHONE, "dark", "en"],
    ["on a small screen", SMALL, "dark", "zh"],
    ["on a phone", PHONE, "light", "zh"],
  ] as const)(
    "has no finding of axe, cuts and covers no text, is translated and does not jump: %s, %p, %s, %s",
    async (_, viewport, theme, language) => {
      await shown.page.evaluateOnNewDocument(`localStorage.setItem("gateway.language", "${language}")`);
      await shown.resize(viewport);
      await shown.page.emulateMediaFeatures([
        { name: "prefers-reduced-motion", value: "reduce" },
        { name: "prefers-color-scheme", value: theme },
      ]);
      const findings: unknown[] = [];
      for (const path of pages) {
        // The first page is loaded as a new document, which has the language. The other pages are opened in this
        // document.
        await (path === "/" ? shown.load(path) : shown.open(path));
        const shift = await shown.layoutShift();
        const rules = await shown.accessibilityFindings();
        const layout = await layoutFindings(shown.page, language);
        if (shift > MAX_SHIFT || rules.length > 0 || layout.length > 0)
          findings.push({ path, shift, rules, layout });
      }
      expect(findings).toEqual([]);
    },
    600_000,
  );

  test("a viewer of one organization is led to no page that the role may not read", async () => {
    const vera = {
      name: "vera",
      role: "viewer",
      organizations: ["default"],
      password: "a-long-enough-password",
    };
    await administrator.act("POST", "/members", vera);
    await shown.signIn(vera.name, vera.password);
    await shown.resize(WIDE);
    await shown.page.evaluateOnNewDocument(`localStorage.setItem("gateway.language", "en")`);
    const isRefused = async () =>
      (await shown.page.$eval("h1", ({ textContent }) => textContent)) === REFUSED;
    /** The first page with a link to an address, by this address. */
    const links = new Map<string, string>();
    const refused = new Map<string, boolean>();
    for (const path of pages) {
      await shown.open(path);
      refused.set(path, await isRefused());
      if (refused.get(path)) continue;
      const found = await shown.page.$$eval(`a[href^="/console"]`, (all) => all.map((link) => link.pathname));
      for (const link of found) if (!links.has(link)) links.set(link, path);
    }
    const led: string[] = [];
    for (const [link, from] of links) {
      const path = link.replace("/console", "") || "/";
      if (!refused.has(path)) {
        await shown.open(path);
        refused.set(path, await isRefused());
      }
      if (refused.get(path)) led.push(`${from} leads to ${link}`);
    }
    expect(links.size).toBeGreaterThan(10);
    expect(led).toEqual([]);
  }, 300_000);
});
