import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import type { HTTPRequest } from "puppeteer-core";
import type { Administrator } from "../support/administration.ts";
import { chromium, PHONE, startTestConsole, WIDE, type TestConsole } from "../support/browser.ts";
import { copyRows } from "../support/copied-rows.ts";
import { until } from "../support/gateway.ts";
import { startOpenIdProvider, type OpenIdProvider } from "../upstreams/openid-provider.ts";

const MAX_SHIFT = 0.05;
const TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
const OWN_PASSWORD = "a-password-of-my-own";

describe.skipIf(chromium === null)("the console's first page, its frame and one's own account", () => {
  let shown: TestConsole;
  let administrator: Administrator;
  let provider: OpenIdProvider;
  let secret: string;
  let recoveryCodes: string[];
  const path = () => new URL(shown.page.url()).pathname;
  beforeAll(async () => {
    provider = startOpenIdProvider("/console/oidc/callback");
    const env = { OIDC_SECRET: provider.clientSecret };
    shown = await startTestConsole({ yaml: signInAt(provider), env });
    administrator = await shown.signIn();
  });
  afterAll(async () => {
    await shown[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  test("a new installation is led through its first steps", async () => {
    await shown.open("/");
    await shown.find("heading", "First steps");
    await shown.see("0 of 5 done");
    expect(await shown.accessibilityFindings()).toEqual([]);
    const links = await shown.page.$$eval("ol a", (links) => links.map((link) => link.getAttribute("href")));
    expect(links).toEqual([
      "/console/playground",
      "/console/keys",
      "/console/models/providers",
      "/console/money",
      "/console/settings/alerts",
    ]);
  });

  test("a picture and a refusal are counted, charged and attributed", async () => {
    const made = await image({ model: "sandbox-a", prompt: "a lighthouse" });
    expect(made.status).toBe(200);
    expect((await image({ model: "sandbox-a", prompt: "a lighthouse", n: 99 })).status).toBe(400);
    await shown.gateway.charged(made.headers.get("x-request-id")!);
    const range = `from=${new Date(Date.now() - 3_600_000).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`;
    await until("the overview to know both", async () => {
      const { totals } = await administrator.act("GET", `/overview?${range}`);
      return totals.requests === 2 || undefined;
    });
    await shown.open("/");
    const text = String(await shown.page.evaluate("document.querySelector('dl').innerText"));
    expect(text).toMatch(/Requests\s+2\s/);
    expect(text).toMatch(/Spend\s+\$0\.02/);
    expect(text).toContain("1 failed");
    await shown.see("Sandbox A");
    await shown.see("1 of 5 done");
    expect(await shown.accessibilityFindings()).toEqual([]);
  });

  test("the verdict comes first, then four figures with their course and the period before", async () => {
    await shown.open("/");
    const { top: page } = (await shown.page.evaluate(`(() => {
      const section = document.querySelector("main section");
      return { top: [section.querySelector("h2").innerText, ...[...section.querySelectorAll("dl > div")]
        .filter((figure) => figure.querySelector("svg path"))
        .map((figure) => figure.innerText.replace(/\\s+/g, " "))] };
    })()`)) as { top: string[] };
    const [verdict, spend, requests, errors, latency, ...others] = page;
    expect(verdict).toBe("Everything is well");
    expect(spend).toStartWith("Spend $0.02 Before: nothing");
    expect(requests).toStartWith("Requests 2 Before: nothing");
    expect(errors).toStartWith("Errors 50% 1 failed Before: nothing");
    expect(latency).toMatch(/^Latency .+ 95% within .+ Before: nothing/);
    expect(others).toEqual([]);
  });

  test.each([1920, 2560])("charts and lists fill a screen of %d pixels", async (width) => {
    await shown.page.setViewport({ width, height: 1_200 });
    for (const path of ["/", "/requests"]) {
      await shown.open(path);
      const used = await shown.page.$$eval("main section", (sections) =>
        Math.max(...sections.map((section) => section.getBoundingClientRect().right)),
      );
      expect(used).toBeGreaterThan(width - 100);
      const longest = await shown.page
        .evaluate(`Math.max(...[...document.querySelectorAll("main p")].map((text) => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return range.getBoundingClientRect().width;
      }))`);
      expect(longest).toBeLessThan(900);
    }
    await shown.page.setViewport(WIDE);
  });

  test("lists have two lines a row on a phone, and where their columns do not fit", async () => {
    const rows = async () => {
      const [widest, height, text] = (await shown.page.evaluate(`(() => {
        const row = document.querySelector("main tr[data-index='0']");
        const { scrollWidth, clientWidth } = row.closest("table").parentElement;
        return [scrollWidth - clientWidth, row.offsetHeight, row.innerText.replace(/\\s+/g, " ")];
      })()`)) as [number, number, string];
      return { widest, isTwoLine: height > 50, text };
    };
    await shown.resize(PHONE);
    await shown.open("/requests?status=2xx");
    const phone = await rows();
    expect(phone).toMatchObject({ widest: 0, isTwoLine: true });
    // First line: time, state and amount. Second line: model, key, usage and duration.
    expect(phone.text).toMatch(/^\w+ \d+, [\d:]+ 200 \$0\.02 sandbox-a .+ 1 picture [\d,.]+ \w+ ?$/);
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.page.focus("main tr[data-index='0']");
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Request");
    for (const width of [768, 1440]) {
      await shown.resize({ width, height: 900 });
      await shown.open("/requests?status=2xx");
      expect(await rows()).toMatchObject({ widest: 0, isTwoLine: width === 768 });
    }
    await shown.page.setViewport(WIDE);
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
    const opened = shown.load("/");
    await page.waitForSelector(".animate-pulse", { visible: true });
    await page.evaluate(TWO_FRAMES);
    const expected = await top("main .grid .animate-pulse");
    held.resolve();
    await opened;
    await page.waitForSelector("main dl");
    await page.evaluate(TWO_FRAMES);
    page.off("request", hold);
    await page.setRequestInterception(false);
    // The browser counts no layout shift when new elements replace old ones. But a reader sees such a shift.
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

  test("range and grouping are in the address, and Back undoes them one by one", async () => {
    const addressIs = (search: string) => shown.page.waitForFunction(`location.search === "${search}"`);
    await shown.press("button", "7 days");
    await shown.press("button", "Keys");
    await addressIs("?range=7d&by=keys");
    await shown.page.evaluate("history.back()");
    await addressIs("?range=7d");
    await shown.page.evaluate("history.back()");
    await addressIs("");
    await shown.page.evaluate("history.go(2)");
    await addressIs("?range=7d&by=keys");
    await shown.reload();
    expect(await shown.page.$eval("[aria-pressed=true]", (button) => button.textContent)).toBe("7 days");
  });

  test("days begin in the chosen time zone, which the chart names", async () => {
    await shown.page.emulateTimezone("Asia/Kathmandu");
    await shown.open("/money/usage?range=7d&step=day");
    await shown.see("Days in UTC");
    await shown.page.evaluate(`localStorage.setItem("gateway.zone", "local")`);
    await shown.reload();
    await shown.see("Days in Asia/Kat");
    await shown.page.evaluate(`localStorage.removeItem("gateway.zone")`);
    await shown.page.emulateTimezone();
    await shown.open("/");
  });

  test("a key alone shows its usage, models and prices, and is not kept", async () => {
    await shown.endSession();
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

  test("someone signs in and is led to the address they came for", async () => {
    await shown.endSession();
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
    await shown.load("/jobs");
    await shown.page.keyboard.press("Tab");
    await shown.page.keyboard.press("Enter");
    expect(await shown.page.evaluate("document.activeElement.id")).toBe("content");
    await (await shown.find("link", "Settings")).focus();
    await shown.page.keyboard.press("Enter");
    await shown.page.waitForFunction(`location.pathname === "/console/settings"`);
    expect(await shown.page.$eval(`nav a[aria-current=page]`, (link) => link.textContent)).toBe("Settings");
  });

  test("the palette leads to a page, to a model, and to a request by its id", async () => {
    await shown.open("/settings");
    await palette("ledger");
    await shown.page.waitForFunction(`location.pathname === "/console/money/ledger"`);
    await palette("sandbox-b-lite");
    await shown.page.waitForFunction(
      `location.pathname === "/console/models/detail" && location.search === "?model=sandbox-b-lite"`,
    );
    await palette("req_0123456789abcdef0123456789abcdef");
    await shown.page.waitForFunction(
      `location.pathname === "/console/requests/req_0123456789abcdef0123456789abcdef"`,
    );
  });

  test("palette and filters find a key beyond the first thousand", async () => {
    const member = await shown.signIn();
    const database = new Database(`${shown.gateway.dataDirectory}/gateway.sqlite`);
    copyRows(database, 1_100, /^api_keys$/);
    database.close();
    const made = await member.act("POST", "/keys", { organizationId: "default", name: "zebra-9998" });
    await shown.open("/settings");
    await palette("zebra-9998");
    await shown.page.waitForFunction(`location.pathname === "/console/keys/${made.key.id}"`);
    await shown.open("/requests");
    await shown.press("button", "All Key");
    await shown.fill("Search", "zebra-9998");
    await shown.press("option", `zebra-9998 ${made.key.prefix}…`);
    await shown.page.waitForFunction(`location.search.includes("keyId=${made.key.id}")`);
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
    await shown.resize(PHONE);
    await shown.open("/");
    expect(await shown.page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
    await shown.press("button", "Navigation");
    await shown.press("link", "Keys");
    await shown.find("heading", "Keys");
    await shown.resize(WIDE);
  });

  test("a session that ends is renewed over the page, which keeps what was written and does it", async () => {
    await shown.open("/keys/new");
    await shown.fill("Name", "written before");
    await shown.endSession();
    await shown.press("button", "Create key");
    await shown.find("heading", "Your session has ended");
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.fill("Password", "a-password-for-tests");
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Your new key");
    const { data } = await (await shown.signIn()).act("GET", "/keys?search=written");
    expect(data.map(({ name }: { name: string }) => name)).toEqual(["written before"]);
    await shown.page.keyboard.press("Escape");
    await shown.find("heading", "Your new key");
    await shown.press("button", "Copy");
    await shown.press("button", "I have copied it");
    await shown.untilClosed();
  });

  test("an outage is said in place of the page and ends by itself; nobody is signed out", async () => {
    const { page } = shown;
    let isAway = true;
    const answer = async (request: HTTPRequest) => {
      if (!isAway || !request.url().endsWith("/admin/v1/session")) return await request.continue();
      const error = { type: "dependency_unavailable", message: "the database is unavailable", field: null };
      await request.respond({
        status: 503,
        contentType: "application/json",
        body: JSON.stringify({ error }),
      });
    };
    await page.setRequestInterception(true);
    page.on("request", answer);
    await shown.open("/jobs");
    await shown.find("heading", "The database is unavailable");
    expect(path()).toBe("/console/jobs");
    expect(await shown.accessibilityFindings()).toEqual([]);
    isAway = false;
    await shown.find("heading", "Jobs");
    await shown.open("/sign-in?next=/images");
    await page.waitForFunction(`location.pathname === "/console/images"`);
    page.off("request", answer);
    await page.setRequestInterception(false);
    await shown.endSession();
    expect(new Set(shown.problems.splice(0))).toEqual(new Set(["ApiError: the database is unavailable"]));
  });

  test("a generated password is changed before anything else", async () => {
    const ada = { name: "Ada", role: "owner", organizations: "*" };
    const { password } = await administrator.act<{ password: string }>("POST", "/members", ada);
    await shown.open("/");
    await shown.fill("Name", "Ada");
    await shown.fill("Password", password);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Choose a password");
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.fill("New password", "short");
    await shown.page.keyboard.press("Enter");
    await shown.see("Must have at least 12 characters");
    await shown.fill("New password", OWN_PASSWORD);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Overview");
  });

  test("an authenticator is turned on by its code", async () => {
    await shown.open("/settings/account");
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.press("button", "Turn on");
    await shown.find("image", "QR code of the secret below");
    secret = String(await shown.page.$eval("[role=dialog] code", (code) => code.textContent)).replaceAll(
      " ",
      "",
    );
    await shown.fill("Code", codeOf(secret));
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Your recovery codes");
    const text = await shown.page.$eval("[data-secret]", (codes) => codes.textContent);
    recoveryCodes = String(text).split("\n");
    expect(recoveryCodes.length).toBeGreaterThan(4);
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.press("button", "I have copied it");
    await shown.find("button", "Turn off");
  });

  test("a token is shown once, also where the browser allows no copy, and administers as its role", async () => {
    await shown.press("button", "Create a token");
    await shown.fill("Name", "Nightly report");
    await shown.press("button", "Create");
    await shown.find("heading", "Your new token");
    const token = await shown.page.$eval("[data-secret]", (shown) => shown.textContent);
    await shown.page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error());
      document.execCommand = () => false`);
    await shown.press("button", "Copy");
    await shown.see("The browser does not allow copying.");
    await shown.page.keyboard.press("Escape");
    await shown.page.evaluate("delete navigator.clipboard.writeText; delete document.execCommand");
    await shown.press("button", "Copy");
    await shown.see("Copied");
    await shown.press("button", "I have copied it");
    await shown.see("Nightly report");
    const headers = { authorization: `Bearer ${token}` };
    const url = `${shown.gateway.url}/admin/v1/keys`;
    expect((await fetch(url, { headers })).status).toBe(200);
    expect((await fetch(`${url}/none`, { method: "DELETE", headers })).status).toBe(403);
  });

  test("signing in needs a code from then on; a recovery code is accepted in its place", async () => {
    await shown.endSession();
    await shown.open("/");
    await shown.fill("Name", "Ada");
    await shown.fill("Password", OWN_PASSWORD);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Enter a code");
    await shown.fill("Code", "000000");
    await shown.page.keyboard.press("Enter");
    await shown.see("The code is wrong");
    await shown.press("button", "Use a recovery code");
    await shown.fill("Recovery code", recoveryCodes[0]!);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Overview");
  });

  test("nothing was asked of another host, refused by the security policy or reported as an error", () => {
    expect([...shown.foreignHosts]).toEqual([]);
    expect(shown.problems).toEqual([]);
  });

  test("who signs in at a provider comes back to the address they came for", async () => {
    provider.user = {
      sub: "1",
      email: "grace@acme.example",
      email_verified: true,
      groups: ["gateway-admin"],
    };
    await shown.endSession();
    await shown.open("/keys?search=web");
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.press("link", "Sign in with Acme accounts");
    await shown.find("heading", "Keys");
    expect(new URL(shown.page.url()).search).toBe("?search=web");
    await shown.see("grace@acme.example");
    expect([provider.redeemed.length, provider.refusals]).toEqual([1, []]);

    provider.user = { sub: "2", email: "mallory@elsewhere.example", email_verified: true };
    await shown.endSession();
    await shown.open("/");
    await shown.press("link", "Sign in with Acme accounts");
    await shown.page.waitForSelector("[role=alert]");
    await shown.find("heading", "Sign in");
  });

  async function palette(typed: string): Promise<void> {
    await shown.page.keyboard.down("Control");
    await shown.page.keyboard.press("k");
    await shown.page.keyboard.up("Control");
    await shown.page.waitForSelector("[role=dialog]");
    await shown.fill("Search", typed);
    // An empty list has a single entry, which says that the list is empty.
    await shown.page.waitForFunction(`document.querySelectorAll("[role=menuitem][data-key]").length === 1`);
    await shown.page.keyboard.press("Enter");
    await shown.page.waitForSelector("[role=dialog]", { hidden: true });
    // The focus returns one frame after the dialog has closed.
    await shown.page.evaluate(TWO_FRAMES);
  }

  async function choose(what: string, wanted: string): Promise<void> {
    await shown.page.click("aside button[aria-haspopup=menu]");
    await (await shown.page.waitForSelector(`xpath///*[@role="menuitem"][contains(., "${what}")]`))!.click();
    await (await shown.page.waitForSelector(
      `xpath///*[@role="menuitemradio"][contains(., "${wanted}")]`,
    ))!.click();
    await shown.page.waitForFunction(
      `document.querySelectorAll("[role=menu]").length === 1 && document.activeElement.closest("[role=menu]")`,
    );
    await shown.page.keyboard.press("Escape");
    await shown.page.waitForSelector("[role=menu]", { hidden: true });
  }

  function top(selector: string): Promise<number> {
    return shown.page.$eval(selector, (element) => element.getBoundingClientRect().top);
  }

  function image(body: object): Promise<Response> {
    return shown.gateway.call("/v1/images/generations", { body });
  }
});

function codeOf(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate();
}

function signInAt({ issuer, clientId }: OpenIdProvider): string {
  return `
console:
  oidc:
    issuer: ${issuer}
    client_id: ${clientId}
    client_secret: { env: OIDC_SECRET }
    label: Acme accounts
    default_organizations: "*"
    allowed_domains: [acme.example]
`;
}
