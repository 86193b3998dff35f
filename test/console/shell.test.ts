import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, PHONE, startTestConsole, WIDE, type TestConsole } from "../support/browser.ts";

describe.skipIf(chromium === null)("the console's shell", () => {
  let shown: TestConsole;
  const path = () => new URL(shown.page.url()).pathname;
  beforeAll(async () => {
    shown = await startTestConsole();
  }, 30_000);
  afterAll(() => shown[Symbol.asyncDispose]());

  test("someone signs in and is led to the address they came for", async () => {
    await shown.open("/jobs?status=failed");
    expect(path()).toBe("/console/sign-in");
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.fill("Name", "admin");
    await shown.fill("Password", "a wrong password");
    await shown.page.keyboard.press("Enter");
    await shown.see("The name or the password is wrong");
    await shown.fill("Password", "a-password-for-tests");
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Jobs");
    expect(path()).toBe("/console/jobs");
    expect(new URL(shown.page.url()).search).toBe("?status=failed");
    expect(await shown.page.title()).toContain("Jobs");
  });

  test("the keyboard skips to the content and walks the navigation", async () => {
    await shown.open("/jobs");
    await shown.page.keyboard.press("Tab");
    await shown.page.keyboard.press("Enter");
    expect(await shown.page.evaluate("document.activeElement.id")).toBe("content");
    await (await shown.find("link", "Settings")).focus();
    await shown.page.keyboard.press("Enter");
    await shown.page.waitForFunction(`location.pathname === "/console/settings"`);
    expect(await shown.page.$eval(`nav a[aria-current=page]`, (link) => link.textContent)).toBe("Settings");
  });

  test("the palette leads to a page, and to a request by its id", async () => {
    await palette("ledger");
    await shown.page.waitForFunction(`location.pathname === "/console/money/ledger"`);
    await palette("req_0123456789abcdef0123456789abcdef");
    await shown.page.waitForFunction(
      `location.pathname === "/console/requests/req_0123456789abcdef0123456789abcdef"`,
    );
  });

  test("theme and language are kept over a reload", async () => {
    await shown.open("/jobs");
    await choose("Theme", "Dark");
    await choose("Language", "中文");
    await shown.see("任务");
    await shown.reload();
    await shown.see("任务");
    const root = "document.documentElement";
    expect(await shown.page.evaluate(`[${root}.dataset.theme, ${root}.lang]`)).toEqual(["dark", "zh"]);
    await shown.page.evaluate("localStorage.clear()");
  });

  test("on a phone the navigation is behind a button and nothing is wider than the screen", async () => {
    await shown.page.setViewport(PHONE);
    await shown.open("/");
    expect(await shown.page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
    await shown.press("button", "Navigation");
    await shown.press("link", "Keys");
    await shown.find("heading", "Keys");
    await shown.page.setViewport(WIDE);
  });

  test("a session that ends leads to signing in and back", async () => {
    await shown.open("/settings/account");
    await shown.page.deleteCookie({ name: "gateway_session" });
    await shown.press("link", "Webhooks");
    await shown.page.waitForFunction(`location.pathname === "/console/sign-in"`);
    expect(new URL(shown.page.url()).searchParams.get("next")).toContain("/settings");
  });

  test("nothing was asked of another host, refused by the security policy or reported as an error", () => {
    expect([...shown.foreignHosts]).toEqual([]);
    expect(shown.problems).toEqual([]);
  });

  async function palette(typed: string): Promise<void> {
    await shown.page.keyboard.down("Control");
    await shown.page.keyboard.press("k");
    await shown.page.keyboard.up("Control");
    await shown.page.waitForSelector("[role=dialog] input:focus");
    await shown.page.keyboard.type(typed);
    await shown.page.waitForFunction(`document.activeElement.value === "${typed}"`);
    await shown.page.waitForFunction(`document.querySelectorAll("[role=menuitem]").length === 1`);
    await shown.page.keyboard.press("Enter");
    await shown.page.waitForSelector("[role=dialog]", { hidden: true });
    // A frame after it has closed, the focus goes back to where it was.
    await shown.page.evaluate(
      "new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume)))",
    );
  }

  async function choose(what: string, wanted: string): Promise<void> {
    await shown.page.click("aside button[aria-haspopup=menu]");
    await (await shown.page.waitForSelector(`xpath///*[@role="menuitem"][contains(., "${what}")]`))!.click();
    await (await shown.page.waitForSelector(
      `xpath///*[@role="menuitemradio"][contains(., "${wanted}")]`,
    ))!.click();
    await shown.page.waitForFunction(`document.querySelectorAll("[role=menu]").length === 1`);
    await shown.page.keyboard.press("Escape");
    await shown.page.waitForSelector("[role=menu]", { hidden: true });
  }
});
