import { setDefaultTimeout } from "bun:test";
import type axe from "axe-core";
import puppeteer, { type Browser, type ElementHandle, type Page, type Viewport } from "puppeteer-core";
import { signIn, type Administrator } from "./administration.ts";
import { startTestGateway, type GatewayOptions, type TestGateway } from "./gateway.ts";

/** The console of a real gateway, in a real browser. */
export interface TestConsole extends AsyncDisposable {
  gateway: TestGateway;
  page: Page;
  /**
   * Opens a path below `/console` and waits until the page is shown. A document that is already loaded for the same
   * session stays, which takes a third of the work of a new one. The new page has nothing of an earlier one: no data,
   * messages, focus or form.
   */
  open(path: string): Promise<void>;
  /** Opens a path below `/console` in a new document. */
  load(path: string): Promise<void>;
  /** Sets the size. After a change from or to a phone, no page is shown until the next one is opened. */
  resize(viewport: Viewport): Promise<void>;
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
  /**
   * Uncaught errors, and errors in the browser's console, including violations of the security policy but not error
   * statuses.
   */
  problems: string[];
  /** Hosts to which the page has sent requests, except the gateway. */
  foreignHosts: Set<string>;
  /** Returns what the rules of axe find on the shown page. */
  accessibilityFindings(): Promise<string[]>;
  /** Returns the cumulative layout shift since the page was opened. */
  layoutShift(): Promise<number>;
}

export const WIDE: Viewport = { width: 1440, height: 900 };
export const PHONE: Viewport = { width: 390, height: 844, isMobile: true, hasTouch: true };

/** Programs of the browser, best first: the one without a window needs a fifth less of the processor. */
const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];
const TIMEOUT_MS = 20_000;
/** Time between two looks at a page. Looking at every frame costs much processor time. */
const POLLING_MS = 30;
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
  const find = (role: string, name: string) =>
    retried(`${role} "${name}" is not shown`, async () => {
      const element = await page.$(`aria/${name}[role="${role}"]`);
      return (await element?.isVisible()) && element;
    });
  // A document shows the member of the session with which it was loaded.
  let isOtherSession = false;
  const load = async (path: string) => {
    isOtherSession = false;
    // Waiting for an idle network would never end, because a page that follows events always uses the network.
    await page.goto(`${gateway.url}/console${path}`);
    await untilShown(page);
  };
  const open = async (path: string) => {
    if (isOtherSession || (await page.evaluate("typeof __TSR_ROUTER__")) === "undefined") return load(path);
    await page.evaluate(`(${SHOW_ANEW})(${JSON.stringify(`/console${path}`)})`);
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
  const press = async (role: string, name: string) => {
    await retried(`${role} "${name}" cannot be pressed`, async () => {
      const element = await find(role, name);
      if (!(await element.evaluate(isStill))) return false;
      await element.click();
      return true;
    });
  };
  const see = async (text: string) => {
    const isSeen = `document.body.innerText.includes(${JSON.stringify(text)})`;
    await page.waitForFunction(isSeen, { polling: POLLING_MS });
  };
  return {
    find,
    open,
    load,
    fill,
    press,
    see,
    async untilClosed() {
      // Toasts have the same role, but are not sections.
      await page.waitForSelector("section[role$=dialog]", { hidden: true });
    },
    async resize(viewport: Viewport) {
      // Such a change would reload the page.
      if (page.viewport()?.isMobile !== viewport.isMobile) await page.goto("about:blank");
      await page.setViewport(viewport);
    },
    async reload() {
      await page.reload();
      await untilShown(page);
    },
    async signIn(name = "admin", password = "a-password-for-tests") {
      const administrator = await signIn(gateway, { name, password });
      isOtherSession = true;
      const [cookie = "", value = ""] = administrator.cookie.split(/=(.*)/s);
      await page.browserContext().setCookie({ name: cookie, value, domain: new URL(gateway.url).hostname });
      return administrator;
    },
    async endSession() {
      isOtherSession = true;
      const context = page.browserContext();
      await context.deleteCookie(...(await context.cookies()));
    },
    accessibilityFindings: () => findWithAxe(page),
    layoutShift: () => page.evaluate("shifts()") as Promise<number>,
  };
}

/** Repeats an attempt until it returns something. An attempt may fail because its page or its element is replaced. */
async function retried<T>(problem: string, attempt: () => Promise<T | null | undefined | false>): Promise<T> {
  const end = performance.now() + TIMEOUT_MS;
  for (;;) {
    const isLast = performance.now() > end;
    const found = await attempt().catch((error: unknown) => {
      if (isLast) throw error;
    });
    if (found) return found;
    if (isLast) throw new Error(problem);
    await Bun.sleep(POLLING_MS);
  }
}

/** Runs in the page. Returns true when an element is enabled and has the same place after two frames. */
async function isStill(element: Element): Promise<boolean> {
  const { requestAnimationFrame } = globalThis as unknown as {
    requestAnimationFrame(done: () => void): void;
  };
  const place = () => JSON.stringify(element.getBoundingClientRect());
  const before = place();
  for (let count = 0; count < 2; count++) await new Promise<void>(requestAnimationFrame);
  return !element.matches(":disabled") && place() === before;
}

interface Element {
  getBoundingClientRect(): object;
  matches(selector: string): boolean;
}

/** Waits until the page has a heading and no placeholder of loading content. */
async function untilShown(page: Page): Promise<void> {
  await page.waitForFunction(
    `document.querySelector("h1") && !document.querySelector('[aria-busy="true"], .animate-pulse')`,
    { polling: "mutation" },
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
const OBSERVE_SHIFTS = `{
  globalThis.openedAt = 0;
  const found = [];
  globalThis.shifts = () => found.filter(({ startTime }) => startTime > openedAt)
    .reduce((sum, { value }) => sum + value, 0);
  new PerformanceObserver((list) => found.push(...list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput)))
    .observe({ type: "layout-shift", buffered: true });
}`;

/**
 * Shows a path by the console's router. First shows an unknown path, which unmounts the previous page. Then clears the
 * client of all queries, which is in the properties of an outer component.
 */
const SHOW_ANEW = `async (path) => {
  const { history, subscribe } = __TSR_ROUTER__;
  const show = (path) => new Promise((resolve) => {
    const stop = subscribe("onResolved", () => resolve(stop()));
    history.push(path, undefined, { ignoreBlocker: true });
  });
  // A new document follows its history once it is rendered.
  while (history.subscribers.size === 0) await new Promise(requestAnimationFrame);
  for (const close of document.querySelectorAll("[role=alertdialog] [slot=close]")) close.click();
  await show("/console/unknown");
  const root = document.getElementById("root");
  const [container] = Object.keys(root).filter((name) => name.startsWith("__reactContainer"));
  let component = root[container].stateNode.current;
  while (!component.memoizedProps?.client) component = component.child;
  component.memoizedProps.client.clear();
  openedAt = performance.now();
  await show(path);
}`;

/** The part of the page that can be used: the newest dialog, or the whole page if no dialog is open. */
const SHOWN = `([...document.querySelectorAll("section[role$=dialog]")].at(-1) ?? document)`;

/** React Aria announces names in this element. The named elements may disappear a moment later. */
const ANNOUNCER = `[["[data-live-announcer]"]]`;

/** The minified text of axe, which a page parses in half the time. */
const AXE = Bun.file(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir));

/** React Aria's container of a menu or dialog, which has a hidden button. axe reports the button wrongly. */
const CONTAINER = `<div data-overlay-container="true"`;

async function findWithAxe(page: Page): Promise<string[]> {
  // Waits for transitions to end, because a colour in between is not a finding.
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))
    .map(({ finished }) => finished))`);
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(await AXE.text());
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

const ARGUMENTS = [
  // Tests may run as root. The browser has no sandbox for root.
  "--no-sandbox",
  "--lang=en-US",
  // A page runs too briefly for the last optimizing compiler. Without it, a page needs a sixth less of the processor.
  "--js-flags=--no-opt",
];

function launch(executablePath: string): Promise<Browser> {
  return puppeteer.launch({ executablePath, args: ARGUMENTS });
}

function findChromium(): string | null {
  const found = NAMES.map((name) => Bun.which(name)).find((path) => path !== null) ?? null;
  if (found === null) console.warn(`skipped: none of ${NAMES.join(", ")} is on PATH`);
  return found;
}
