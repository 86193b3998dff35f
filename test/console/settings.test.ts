import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import alerts from "../../src/console/texts/zh/alerts.json";
import settings from "../../src/console/texts/zh/settings.json";
import shell from "../../src/console/texts/zh/shell.json";
import { chromium, WIDE, startTestConsole, type TestConsole } from "../support/browser.ts";
import type { Administrator } from "../support/administration.ts";
import { until } from "../support/gateway.ts";
import { tabTo } from "../support/keyboard.ts";

describe.skipIf(chromium === null)("settings in the console", () => {
  let console: TestConsole;
  let administrator: Administrator;
  beforeAll(async () => {
    console = await startTestConsole();
    administrator = await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  test("an alert is added, changed and deleted", async () => {
    await console.open("/settings/alerts");
    await console.see("There is no alert yet.");
    await console.press("button", "Add alert");
    await console.fill("Name", "Budgets");
    await console.fill("Mail addresses", "nobody");
    await console.press("button", "Save");
    await console.see("Must be an e-mail address");
    await console.fill("Mail addresses", "ops@example.org");
    await console.see("No mail server is configured");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Save");
    await console.see("The alert was added");
    await console.untilClosed();
    await console.see("80%, 100% of a budget is spent");
    await console.see("All (installation)");
    await console.see("No mail server is configured");
    await console.press("button", "Acts on Budgets");
    await console.press("menuitem", "Edit");
    await console.press("radio", "Requests fail");
    await console.press("button", "Save");
    await console.see("5% of the requests of 10 minutes fail");
    await console.untilClosed();
    await console.press("button", "Acts on Budgets");
    await console.press("menuitem", "Disable");
    await console.see("Disabled");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Acts on Budgets");
    await console.press("menuitem", "Delete");
    await console.press("button", "Delete");
    await console.see("There is no alert yet.");
    await console.press("button", "Add three suggested alerts");
    await console.see("Three alerts were added");
    await console.see("Anything critical is wrong");
    expect(await console.accessibilityFindings()).toEqual([]);
    const { data } = await administrator.act("GET", "/alerts");
    expect(data.map(({ organizationId }: { organizationId: null }) => organizationId)).toEqual([
      null,
      null,
      null,
    ]);
  });

  test("an organization is created, changed and disabled, and the audit log says how", async () => {
    await console.open("/settings");
    const { keyboard } = console.page;
    await tabTo(console.page, "Create organization");
    await keyboard.press("Enter");
    await console.find("dialog", "Create an organization");
    await console.page.waitForSelector("[role=dialog] input:focus");
    await keyboard.type("Acme");
    await tabTo(console.page, "Id");
    await keyboard.type("acme");
    await keyboard.press("Enter");
    await console.see("The organization was created");
    await console.untilClosed();
    await console.press("button", "Acts on Acme");
    await console.press("menuitem", "Edit");
    await console.fill("Requests per minute", "77");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Save");
    await console.see("The organization was changed");
    await console.untilClosed();
    await console.press("button", "Acts on Acme");
    await console.press("menuitem", "Edit");
    await console.fill("Requests per minute", "88");
    await console.page.setViewport({ width: 600, height: 900 });
    await console.page.setViewport(WIDE);
    await console.find("dialog", "Edit Acme");
    await administrator.act("PATCH", "/organizations/acme", { limits: { runningJobs: 9 } });
    await console.press("button", "Save");
    await console.see("admin changed this");
    await console.see("Running jobs – → 9");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Read it again, keep what I wrote");
    await console.page.waitForFunction(`!document.body.innerText.includes("changed this")`);
    await console.press("button", "Save");
    await console.untilClosed();
    expect((await administrator.act("GET", "/organizations/acme")).limits).toEqual({
      requestsPerMinute: 88,
      runningJobs: 9,
    });
    await console.press("button", "Acts on Acme");
    await console.press("menuitem", "Disable");
    await console.see("Keys that stop working: 0");
    await console.fill("Type “Acme” to confirm", "Acme");
    await console.page.keyboard.press("Enter");
    await console.see("The organization is disabled");
    expect(await console.accessibilityFindings()).toEqual([]);

    await console.open("/settings/audit?subject=acme");
    await console.see("Requests per minute 77 → 88");
    expect(await console.page.$$eval("tbody td", (cells) => cells.map((cell) => cell.textContent))).toContain(
      "Acme",
    );
    expect(await console.accessibilityFindings()).toEqual([]);
    const rows = await console.page.$$("tbody tr[data-index]");
    expect(rows).toHaveLength(5);
    await rows[1]!.click();
    await console.find("dialog", "Change · organization");
    expect(await console.page.$$eval("ins", (found) => found.map(({ textContent }) => textContent))).toEqual([
      "88",
    ]);
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.open("/settings/audit");
    await console.press("button", "Verify");
    await console.see("The log is whole");
  });

  test("an endpoint's secret is shown once", async () => {
    await console.open("/settings/webhooks?organization=default");
    await console.press("button", "Add endpoint");
    await console.fill("Address", "http://127.0.0.1/");
    const dialog = await console.find("dialog", "Add a webhook endpoint");
    const submit = async () => (await dialog.waitForSelector("aria/Add endpoint[role='button']"))!.click();
    await submit();
    await console.see("Must be an https link to a public address");
    await console.fill("Address", "https://hooks.example.org/gateway");
    await submit();
    await console.see("whsec_");
    await console.page.keyboard.press("Escape");
    await console.find("button", "I have copied it");
    await console.press("button", "I have copied it");
    await console.see("https://hooks.example.org/gateway");
    expect(await console.page.evaluate("document.documentElement.innerHTML")).not.toContain("whsec_");
    expect(await console.accessibilityFindings()).toEqual([]);
  });

  test("in a Chinese console, what the gateway refuses is said in Chinese", async () => {
    await console.open("/settings/alerts");
    await console.page.evaluate(`localStorage.setItem("gateway.language", "zh")`);
    try {
      await console.reload();
      await console.press("button", alerts.create);
      await console.fill(alerts.name, "x");
      await console.fill(alerts["form.emails"], "nobody");
      await console.press("button", shell.save);
      await console.see("必须是邮箱地址");
      await console.load("/settings/configuration");
      await console.press("button", settings["configuration.import"]);
      for (const [fields, refusal] of [
        ["nam: Gamma", "organizations.gamma.nam 不是已知的字段；您是否指“name”？"],
        ["currency: EURO", "name 缺失：必须是文字；currency 必须是 ISO 4217 货币代码，例如 USD"],
        ["name: Gamma, models: [sandbox-cht]", "“sandbox-cht”不是已配置的模型；您是否指“sandbox-chat”？"],
      ] as const) {
        await console.fill("YAML", `organizations: {gamma: {${fields}}}`);
        await console.press("button", settings["import.preview"]);
        await console.see(refusal);
      }
      expect(await console.accessibilityFindings()).toEqual([]);
    } finally {
      await console.page.evaluate("localStorage.clear()");
      await console.load("/settings");
    }
  });

  test("an organization's own administrator decides its name and what is kept, and reads what was kept", async () => {
    const password = "a-long-enough-password";
    const olga = { name: "olga", role: "admin", organizations: ["default"], password };
    await administrator.act("POST", "/members", olga);
    await console.signIn("olga", password);
    await console.open("/settings");
    await console.press("button", "Acts on Default organization");
    await console.press("menuitem", "Edit");
    await console.fill("Name", "Harbour office");
    await console.fill("Keep prompts and replies", "7");
    expect(await console.page.$$("[role=dialog] fieldset")).toEqual([]);
    await console.press("button", "Save");
    await console.see("The organization was changed");
    await console.see("Harbour office");

    const { id } = await until(
      "a request whose prompt is kept",
      async () => {
        const requestId = crypto.randomUUID();
        await sayHello(console, requestId);
        const { body } = await until("its record", async () => {
          const found = await administrator.send("GET", `/requests/${requestId}`);
          return found.status === 200 ? found : undefined;
        });
        // The prompt is stored shortly after the record, if the setting was active before the request.
        return await until(
          "its prompt",
          async () => {
            const kept = await administrator.send("GET", `/prompts/${body.request.id}`);
            return kept.status === 200 ? (body.request as { id: string }) : undefined;
          },
          3_000,
        ).catch(() => undefined);
      },
      20_000,
    );
    await console.open(`/requests/${id}`);
    await console.press("button", "Show them");
    await console.see("Hello, <b>harbour</b>");
    expect(await console.page.$$eval("[data-role]", (said) => said.map((part) => part.textContent))).toEqual([
      "Hello, <b>harbour</b>",
      expect.stringMatching(/./),
    ]);
    expect(await console.accessibilityFindings()).toEqual([]);

    await console.press("link", "Open in the playground");
    await console.find("heading", "Playground");
    await console.page.waitForFunction(
      `document.querySelector("textarea[name=message]")?.value === "Hello, <b>harbour</b>"`,
    );
    expect(new URL(console.page.url()).search).toContain("model=");
    expect(console.page.url()).not.toContain("harbour");
  });

  test("who administers one organization is offered the targets that it has, and no others", async () => {
    await console.open("/models/detail?model=sandbox-chat");
    const target = "sandbox/sandbox-chat";
    await console.find("button", `Remove ${target}`);
    const buttons = () =>
      console.page.$$eval("main button", (all) => all.map(({ textContent }) => textContent));
    expect(await buttons()).not.toContain("Add a target");
    await console.press("button", `Remove ${target}`);
    await console.press("button", "Choose a target Target");
    await console.press("option", target);
    await console.press("button", "Add a target");
    await console.find("button", `Remove ${target}`);
    expect(await buttons()).not.toContain("Add a target");
  });

  test("a configuration is imported after a look at it, and a viewer sees no act", async () => {
    await console.signIn();
    await console.open("/settings/members");
    await console.press("button", "Add member");
    await console.fill("Name", "vera");
    await console.fill("Password", "a-long-enough-password");
    await console.press("button", "Save");
    await console.see("The member was added");
    await console.untilClosed();
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.open("/settings/configuration");
    await console.see("server.port");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Import YAML");
    await console.fill("YAML", "organizations: {beta: {name: Beta}}");
    await console.press("button", "Show what changes");
    await console.press("button", "Apply 1 change");
    await console.see("1 change was applied");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.open("/settings");
    await console.see("Beta");

    await console.signIn("vera", "a-long-enough-password");
    for (const path of ["/keys/new", "/playground", "/settings/members", "/models/providers/add"]) {
      await console.open(path);
      await console.find("heading", "Not for your role");
    }
    expect(await console.accessibilityFindings()).toEqual([]);
    for (const path of ["/keys", "/money", "/settings", "/models/prices?model=sandbox-a"]) {
      await console.open(path);
      await console.page.waitForFunction(`!document.querySelector("[aria-busy=true]")`);
      const names = await console.page.evaluate(
        `[...document.querySelectorAll("main button, main a")].map((act) => act.ariaLabel ?? act.innerText.trim())`,
      );
      for (const act of [
        "Create key",
        "Set a budget",
        "Create organization",
        "Change price",
        "Actions",
        "Members",
      ])
        expect(names).not.toContain(act);
    }
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });
});

async function sayHello({ gateway }: TestConsole, requestId: string): Promise<void> {
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello, <b>harbour</b>" }] };
  const response = await gateway.call("/v1/chat/completions", {
    body,
    headers: { "x-request-id": requestId },
  });
  await response.text();
}
