import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";
import { tabTo } from "../support/keyboard.ts";

describe.skipIf(chromium === null)("the console's image controls", () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startTestConsole();
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  /** What a caller that asks for base64 gets. */
  async function delivered(responseFormat?: string): Promise<string> {
    const body = {
      model: "sandbox-c",
      prompt: "x",
      ...(responseFormat && { response_format: responseFormat }),
    };
    const response = await console.gateway.call("/v1/images/generations", { body });
    const { data } = (await response.json()) as { data: object[] };
    return Object.keys(data[0] ?? {})
      .sort()
      .join();
  }

  test("forcing links, by keys, changes what a caller gets", async () => {
    const { page } = console;
    expect([await delivered("b64_json"), await delivered()]).toEqual(["b64_json", "url"]);
    await console.open("/images");
    expect(await console.accessibilityFindings()).toEqual([]);
    await tabTo(page, "Not set");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(`document.querySelector("table").innerText.match(/Links/g).length === 3`);
    await tabTo(page, "Save");
    await page.keyboard.press("Enter");
    await console.see("The settings are saved");
    await until("the setting to be in force", async () =>
      (await delivered("b64_json")) === "url" ? true : undefined,
    );
    await choose(console, "Off");
    await until("the setting to be in force", async () =>
      (await delivered()) === "b64_json,url" ? true : undefined,
    );
    expect(await delivered("b64_json")).toBe("b64_json");
  });

  test("a fallback needs its time limit, and may name a channel", async () => {
    const { page } = console;
    await console.open("/images");
    await console.see("Fallback channel");
    await tabTo(page, "Cancel on timeout and use fallback");
    await page.keyboard.press("Space");
    await console.press("button", "Save");
    await console.see("This is needed");
    await console.fill("Time limit", "45");
    await console.press("button", "Save");
    await console.see("The settings are saved");
    const { settings } = JSON.parse(await console.gateway.cli("orgs", "show", "default", "--json"));
    expect(settings).toMatchObject({ fallbackAfterMs: 45_000, fallbackChannel: null });
  });

  test("links live as long as the organization says", async () => {
    await console.open("/images");
    await console.fill("Links are valid for", "2");
    await console.press("button", "Save");
    await console.see("The settings are saved");
    const hours = await until("the setting to be in force", async () => {
      const response = await console.gateway.call("/v1/images/generations", {
        body: { model: "sandbox-c", prompt: "x", response_format: "url" },
      });
      const { data } = (await response.json()) as { data: { url: string }[] };
      const end = Number(new URL(data[0]!.url).searchParams.get("exp"));
      const left = Math.round((end - Date.now() / 1000) / 3600);
      return left === 2 ? left : undefined;
    });
    expect(hours).toBe(2);
  });

  test("delivered pictures are shown, and lead to their requests by keys", async () => {
    const { page, gateway } = console;
    await console.open("/images/gallery");
    await page.waitForFunction(
      `[...document.querySelectorAll("[role=row] img")].some(({ complete, naturalWidth }) => complete && naturalWidth > 0)`,
    );
    expect(await console.accessibilityFindings()).toEqual([]);
    const rows = await page.$$eval("[role=row]", (all) => all.map(({ ariaLabel }) => ariaLabel));
    expect(rows.every((name) => name === "Picture of sandbox-c, 1024×1024")).toBe(true);
    await tabTo(page, "Picture of sandbox-c, 1024×1024");
    await tabTo(page, "Open its request");
    await page.keyboard.press("Enter");
    await page.waitForFunction(`location.pathname.startsWith("/console/requests/")`);
    const id = new URL(page.url()).pathname.split("/").at(-1);
    const ids = (await gateway.ledger()).map((row) => row.id);
    expect(ids).toContain(id!);
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });
});

/** Chooses one of the three states and saves. */
async function choose({ page, press, see, find }: TestConsole, label: string): Promise<void> {
  await (await find("radio", label)).evaluate((radio) => (radio as unknown as { click(): void }).click());
  await press("button", "Save");
  await page.waitForFunction(`!document.querySelector("form button[type=submit]:not([disabled])")`);
  await see("The settings are saved");
}
