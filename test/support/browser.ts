import { setDefaultTimeout } from "bun:test";
import axe from "axe-core";
import puppeteer, { type Browser, type ElementHandle, type Page, type Viewport } from "puppeteer-core";
import { signIn, type Administrator } from "./administration.ts";
import { startTestGateway, type GatewayOptions, type TestGateway } from "./gateway.ts";

/** The console of a real gateway in a real browser. */
export interface TestConsole extends AsyncDisposable {
  gateway: TestGateway;
  page: Page;
  /** Opens an address below `/console` and waits until the page is shown. */
  open(path: string): Promise<void>;
  /** Loads the page again and waits until it is shown. */
  reload(): Promise<void>;
  /**
   * Gives the browser a session of the administrator, or of whoever is named, and returns it for requests beside the page.
   * The form of signing in is for `shell.test.ts`.
   */
  signIn(name?: string, password?: string): Promise<Administrator>;
  /** Takes the session from the browser, as when it has ended. */
  endSession(): Promise<void>;
  /** The element of a role and a name, once it is there. */
  find(role: string, name: string): Promise<ElementHandle>;
  /** Clicks the element of a role and a name, once it is enabled and stays where it is. */
  press(role: string, name: string): Promise<void>;
  /** Replaces the text of the field with a label; of the dialog's where one is open. */
  fill(label: string, text: string): Promise<void>;
  /** Waits for a text anywhere on the page. */
  see(text: string): Promise<void>;
  /** Waits until no dialog is open. */
  untilClosed(): Promise<void>;
  /** Errors in the browser's console, refused by the content security policy included. A refusal by status is none. */
  problems: string[];
  /** Hosts other than the gateway that the page has asked for something. */
  foreignHosts: Set<string>;
  /** Findings of axe on what is shown, by any of its rules, or only the serious and critical ones. */
  accessibilityFindings(which?: "all" | "severe"): Promise<string[]>;
  /** The cumulative layout shift since the page was loaded. */
  layoutShift(): Promise<number>;
}

export const WIDE: Viewport = { width: 1440, height: 900 };
export const PHONE: Viewport = { width: 390, height: 844, isMobile: true, hasTouch: true };

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const TIMEOUT_MS = 20_000;
// A journey through several pages takes long on a machine that does much else.
setDefaultTimeout(60_000);

/** The browser's binary, or null where there is none, which is said once. */
export const chromium: string | null = findChromium();

/** Starts a gateway and a browser. Needs `chromium`. */
export async function startTestConsole(
  options: GatewayOptions & { viewport?: Viewport } = {},
): Promise<TestConsole> {
  if (chromium === null) throw new Error("there is no browser");
  const [gateway, browser] = await Promise.all([startTestGateway(options), launch(chromium)]);
  const page = await browser.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.setViewport(options.viewport ?? WIDE);
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  const problems: string[] = [];
  const foreignHosts = new Set<string>();
  watch(page, gateway, problems, foreignHosts);
  await page.evaluateOnNewDocument(OBSERVE_SHIFTS);
  return { gateway, page, problems, foreignHosts, ...actions(gateway, page), ...endOf(gateway, browser) };
}

function actions(gateway: TestGateway, page: Page) {
  const find = async (role: string, name: string) =>
    (await page.waitForSelector(`aria/${name}[role="${role}"]`, {
      visible: true,
    })) as ElementHandle;
  const open = async (path: string) => {
    // The network is never idle on a page that follows events.
    await page.goto(`${gateway.url}/console${path}`);
    await untilShown(page);
  };
  const fill = async (label: string, text: string) => {
    const field = (await page.waitForFunction(
      `[...${SHOWN}.querySelectorAll("input, textarea")].find((field) =>
        [field.ariaLabel, ...Array.from(field.labels ?? [], (label) => label.innerText.replace("*", "").trim())]
          .includes(${JSON.stringify(label)}))`,
    )) as unknown as ElementHandle;
    // Where something else has taken the focus, such as a dialog that has just opened, the text went there.
    do {
      await field.evaluate((element) => {
        const input = element as unknown as { focus(): void; select(): void };
        input.focus();
        input.select();
      });
      await page.keyboard.sendCharacter(text);
    } while (!(await field.evaluate((element) => element.matches(":focus"))));
  };
  const press = (role: string, name: string) =>
    page.locator(`aria/${name}[role="${role}"]`).setEnsureElementIsInTheViewport(false).click();
  const see = async (text: string) => {
    await page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`);
  };
  return {
    find,
    open,
    fill,
    press,
    see,
    async untilClosed() {
      // Toasts have the same role, but are no sections.
      await page.waitForSelector("section[role$=dialog]", { hidden: true });
    },
    async reload() {
      await page.reload();
      await untilShown(page);
    },
    async signIn(name = "admin", password = "a-password-for-tests") {
      const administrator = await signIn(gateway, { name, password });
      const [cookie = "", value = ""] = administrator.cookie.split(/=(.*)/s);
      await page.browserContext().setCookie({ name: cookie, value, domain: new URL(gateway.url).hostname });
      return administrator;
    },
    async endSession() {
      const context = page.browserContext();
      await context.deleteCookie(...(await context.cookies()));
    },
    accessibilityFindings: (which: "all" | "severe" = "all") => findWithAxe(page, which),
    layoutShift: () => page.evaluate("shifts") as Promise<number>,
  };
}

/** Waits for the page's heading and until nothing of it is a skeleton any more. */
async function untilShown(page: Page): Promise<void> {
  await page.waitForSelector("h1");
  await page.waitForFunction(`!document.querySelector('[aria-busy="true"], .animate-pulse')`);
}

function endOf(gateway: TestGateway, browser: Browser) {
  return {
    async [Symbol.asyncDispose]() {
      await browser.close();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

function watch(page: Page, gateway: TestGateway, problems: string[], foreignHosts: Set<string>): void {
  // A form that is just being saved asks before its page is left, and the next page would wait for an answer.
  page.on("dialog", (dialog) => void dialog.accept());
  page.on("console", (message) => {
    const isRefusal = message.text().startsWith("Failed to load resource: the server responded");
    if (message.type() === "error" && !isRefusal) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith("http") && host !== new URL(gateway.url).host) foreignHosts.add(host);
  });
}

/** Sums up the layout shifts that no input has caused. */
const OBSERVE_SHIFTS = `
  globalThis.shifts = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shifts += value;
  }).observe({ type: "layout-shift", buffered: true });`;

/** What can be used: the dialog that was opened last, or all of the page. */
const SHOWN = `([...document.querySelectorAll("section[role$=dialog]")].at(-1) ?? document)`;

/** React Aria announces there what elements are called that may be gone a moment later. */
const ANNOUNCER = `[["[data-live-announcer]"]]`;

/** React Aria's container of a menu or a dialog holds a hidden button, which is no content outside of all landmarks. */
const CONTAINER = `<div data-overlay-container="true"`;

async function findWithAxe(page: Page, which: "all" | "severe"): Promise<string[]> {
  // A colour on its way to another one is no finding.
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
    .map(({ finished }) => finished))`);
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    `axe.run({ exclude: ${ANNOUNCER} }, { resultTypes: ["violations"] })`,
  )) as axe.AxeResults;
  return violations
    .filter(({ impact }) => which === "all" || impact === "serious" || impact === "critical")
    .map((violation) => ({
      ...violation,
      nodes: violation.nodes.filter(({ html }) => !html.startsWith(CONTAINER)),
    }))
    .filter(({ nodes }) => nodes.length > 0)
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

function launch(executablePath: string): Promise<Browser> {
  // Tests may run as root, for whom the browser has no sandbox.
  return puppeteer.launch({ executablePath, args: ["--no-sandbox", "--lang=en-US"] });
}

function findChromium(): string | null {
  const found = NAMES.map((name) => Bun.which(name)).find((path) => path !== null) ?? null;
  if (found === null) console.warn(`skipped: none of ${NAMES.join(", ")} is on PATH`);
  return found;
}
