import { setDefaultTimeout } from "bun:test";
import axe from "axe-core";
import puppeteer, { type Browser, type ElementHandle, type Page, type Viewport } from "puppeteer-core";
import { signIn, type Administrator } from "./administration.ts";
import { startTestGateway, type GatewayOptions, type TestGateway } from "./gateway.ts";

/** The console of a real gateway, in a real browser. */
export interface TestConsole extends AsyncDisposable {
  gateway: TestGateway;
  page: Page;
  /** Opens a path below `/console` and waits until the page is shown. */
  open(path: string): Promise<void>;
  /** Reloads the page and waits until it is shown. */
  reload(): Promise<void>;
  /**
   * Gives the browser a session, by default the administrator's. Returns a client that sends its own requests with this
   * session. `shell.test.ts` tests the sign-in form.
   */
  signIn(name?: string, password?: string): Promise<Administrator>;
  /** Removes the session from the browser, as if it had ended. */
  endSession(): Promise<void>;
  /** Waits for the element with this role and name. */
  find(role: string, name: string): Promise<ElementHandle>;
  /** Clicks the element with this role and name when it is enabled and stands still. */
  press(role: string, name: string): Promise<void>;
  /** Replaces the text of the field with this label. If a dialog is open, the field is in the dialog. */
  fill(label: string, text: string): Promise<void>;
  /** Waits for a text anywhere on the page. */
  see(text: string): Promise<void>;
  /** Waits until no dialog is open. */
  untilClosed(): Promise<void>;
  /** Errors in the browser's console, including violations of the security policy but not error statuses. */
  problems: string[];
  /** Hosts to which the page has sent requests, except the gateway. */
  foreignHosts: Set<string>;
  /** Returns what the rules of axe find on the shown page. */
  accessibilityFindings(): Promise<string[]>;
  /** Returns the cumulative layout shift since the page was loaded. */
  layoutShift(): Promise<number>;
}

export const WIDE: Viewport = { width: 1440, height: 900 };
export const PHONE: Viewport = { width: 390, height: 844, isMobile: true, hasTouch: true };

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const TIMEOUT_MS = 20_000;
// A test of several pages takes long on a busy machine.
setDefaultTimeout(60_000);

/** Path of the browser's program. Null if there is no browser, which a message reports once. */
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
    // Waiting for an idle network would never end, because a page that follows events always uses the network.
    await page.goto(`${gateway.url}/console${path}`);
    await untilShown(page);
  };
  const fill = async (label: string, text: string) => {
    const field = (await page.waitForFunction(
      `[...${SHOWN}.querySelectorAll("input, textarea")].find((field) =>
        [field.ariaLabel, ...Array.from(field.labels ?? [], (label) => label.innerText.replace("*", "").trim())]
          .includes(${JSON.stringify(label)}))`,
    )) as unknown as ElementHandle;
    // Repeats, because another element, such as a new dialog, may have taken the focus and the text.
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
      // Toasts have the same role, but are not sections.
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
    accessibilityFindings: () => findWithAxe(page),
    layoutShift: () => page.evaluate("shifts") as Promise<number>,
  };
}

/** Waits until the page has a heading and no placeholder of loading content. */
async function untilShown(page: Page): Promise<void> {
  await page.waitForFunction(
    `document.querySelector("h1") && !document.querySelector('[aria-busy="true"], .animate-pulse')`,
  );
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
  // A form that is being saved asks before its page is left. The answer lets the next page open.
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

/** Adds up the layout shifts that no input has caused. */
const OBSERVE_SHIFTS = `
  globalThis.shifts = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shifts += value;
  }).observe({ type: "layout-shift", buffered: true });`;

/** The part of the page that can be used: the newest dialog, or the whole page if no dialog is open. */
const SHOWN = `([...document.querySelectorAll("section[role$=dialog]")].at(-1) ?? document)`;

/** React Aria announces names in this element. The named elements may disappear a moment later. */
const ANNOUNCER = `[["[data-live-announcer]"]]`;

/** React Aria's container of a menu or dialog, which has a hidden button. axe reports the button wrongly. */
const CONTAINER = `<div data-overlay-container="true"`;

async function findWithAxe(page: Page): Promise<string[]> {
  // Waits for transitions to end, because a colour in between is not a finding.
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
    .map(({ finished }) => finished))`);
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    `axe.run({ exclude: ${ANNOUNCER} }, { resultTypes: ["violations"] })`,
  )) as axe.AxeResults;
  return violations
    .map((violation) => ({
      ...violation,
      nodes: violation.nodes.filter(({ html }) => !html.startsWith(CONTAINER)),
    }))
    .filter(({ nodes }) => nodes.length > 0)
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

function launch(executablePath: string): Promise<Browser> {
  // Tests may run as root, for which the browser has no sandbox.
  return puppeteer.launch({ executablePath, args: ["--no-sandbox", "--lang=en-US"] });
}

function findChromium(): string | null {
  const found = NAMES.map((name) => Bun.which(name)).find((path) => path !== null) ?? null;
  if (found === null) console.warn(`skipped: none of ${NAMES.join(", ")} is on PATH`);
  return found;
}
