import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, PHONE, startTestConsole, WIDE, type TestConsole } from "../support/browser.ts";

const MAX_SHIFT = 0.05;

/** Pages that are reached by their address alone. Other pages are opened from these. */
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
  const pages = [...PAGES];
  beforeAll(async () => {
    shown = await startTestConsole();
    const administrator = await shown.signIn();
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
    ["on a screen", WIDE, "light"],
    ["on a phone", PHONE, "dark"],
  ] as const)(
    "has no finding of axe, is no wider than the screen and does not jump: %s, %p",
    async (_, viewport, theme) => {
      await shown.page.setViewport(viewport);
      await shown.page.emulateMediaFeatures([
        { name: "prefers-reduced-motion", value: "reduce" },
        { name: "prefers-color-scheme", value: theme },
      ]);
      const findings: unknown[] = [];
      for (const path of pages) {
        await shown.open(path);
        const shift = await shown.layoutShift();
        const rules = await shown.accessibilityFindings();
        const width = Number(await shown.page.evaluate("document.documentElement.scrollWidth - innerWidth"));
        if (shift > MAX_SHIFT || rules.length > 0 || width > 0) findings.push({ path, shift, rules, width });
      }
      expect(findings).toEqual([]);
    },
    600_000,
  );
});
