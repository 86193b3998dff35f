import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { HTTPRequest, Page } from "puppeteer-core";
import { DIRECTORY, readManifest, versionOfSources, type PageManifest } from "../../src/console/manifest.ts";
import zh from "../../src/console/texts/zh/shell.json";
import { chromium, PHONE, startTestConsole, WIDE, type TestConsole } from "../support/browser.ts";

const MAX_BYTES = 250 * 1000;
const MAX_FONT_BYTES = 50 * 1000;
const MAX_SHIFT = 0.05;
const version = await versionOfSources();
const BUILD = new URL("../../src/console/build.ts", import.meta.url).pathname;

test("the first page and all that it needs are at most 250 kB compressed, in one script", async () => {
  const { page, files } = await builtManifest();
  const html = await textOf(page);
  const names = [page, ...namesIn(html)].filter((name) => files[name]?.type !== "font/woff2");
  expect(names.filter((name) => name.endsWith(".js"))).toEqual([await firstScript()]);
  expect(names.some((name) => name.endsWith(".css"))).toBe(true);
  const bytes = names.reduce((sum, name) => sum + (files[name]?.compressed ?? 0), 0);
  console.info(`first load: ${Math.round(bytes / 1000)} kB compressed in ${names.length} files`);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

test("every script that another one imports exists", async () => {
  const { files } = await builtManifest();
  const scripts = Object.keys(files).filter((name) => name.endsWith(".js"));
  for (const name of scripts) {
    const imported = namesIn(await textOf(name)).filter((each) => each.endsWith(".js"));
    expect(imported.filter((each) => !files[each])).toEqual([]);
  }
  expect(scripts.length).toBeGreaterThan(50);
});

test("the page loads one font ahead, of at most 50 kB, and its style sheet uses the same file", async () => {
  const { page, files } = await builtManifest();
  const fonts = Object.keys(files).filter((name) => files[name]?.type === "font/woff2");
  expect(fonts).toHaveLength(1);
  const [font = ""] = fonts;
  expect(files[font]?.bytes).toBeLessThanOrEqual(MAX_FONT_BYTES);
  const styles = Object.keys(files).filter((name) => name.endsWith(".css"));
  for (const name of [page, ...styles]) expect(await textOf(name)).toContain(`/console/assets/${font}`);
});

describe.skipIf(chromium === null)("the first paint", () => {
  let shown: TestConsole;
  beforeAll(async () => {
    shown = await startTestConsole();
    await shown.page.setCacheEnabled(false);
  });
  afterAll(() => shown[Symbol.asyncDispose]());

  test("without a session it is the name, and no frame", async () => {
    await using held = await holdFirstScript(shown);
    await held.untilPainted("/");
    expect(await visibleText(shown.page)).toBe("Gateway");
    expect(await isVisible(shown.page, "aside")).toBe(false);
    expect(held.paths()).not.toContain("/admin/v1/session");
    expect(await shown.accessibilityFindings()).toEqual([]);
  });

  test("a session shows the frame, and the member is read, before the scripts arrive", async () => {
    await shown.signIn();
    for (const viewport of [PHONE, WIDE]) {
      await shown.page.setViewport(viewport);
      await using held = await holdFirstScript(shown);
      await held.untilPainted("/");
      expect(await visibleText(shown.page)).toBe("Gateway");
      expect(await isVisible(shown.page, viewport === WIDE ? "aside" : "header")).toBe(true);
      expect(await shown.accessibilityFindings()).toEqual([]);
      expect(held.paths()).toContain("/admin/v1/session");
      const before = held.paths().length;
      held.release();
      await shown.see("First steps");
      const later = held
        .paths()
        .slice(before)
        .filter((path) => !path.endsWith(".svg"));
      expect(later.slice(0, 2).sort()).toEqual(["/admin/v1/organizations", "/admin/v1/overview"]);
      expect(held.paths().filter((path) => path === "/admin/v1/session")).toHaveLength(1);
      expect(await shown.layoutShift()).toBeLessThan(MAX_SHIFT);
    }
  });

  test("it has the theme and the language that were chosen earlier", async () => {
    await shown.page.evaluate(`
      localStorage.setItem("gateway.theme", "dark");
      localStorage.setItem("gateway.language", "zh");`);
    await using held = await holdFirstScript(shown);
    await held.untilPainted("/");
    expect(await visibleText(shown.page)).toBe(zh.product);
    expect(await shown.page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      "rgb(13, 14, 17)",
    );
    expect(shown.problems).toEqual([]);
  });
});

/** Delays the page's first script, as a slow network does, until `release` is called or the fixture is disposed of. */
async function holdFirstScript({ page, gateway }: TestConsole) {
  const requests: HTTPRequest[] = [];
  const first = await firstScript();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const onRequest = (request: HTTPRequest) => {
    requests.push(request);
    const isHeld = request.url().endsWith(`/${first}`);
    void (isHeld ? promise : Promise.resolve()).then(() => request.continue());
  };
  await page.setRequestInterception(true);
  page.on("request", onRequest);
  let loaded: Promise<unknown> = Promise.resolve();
  return {
    release,
    paths: () => requests.map((request) => new URL(request.url()).pathname),
    /** Opens a path below `/console` and waits for the first paint. */
    async untilPainted(path: string) {
      loaded = page.goto(`${gateway.url}/console${path}`);
      await page.waitForFunction(`performance.getEntriesByName("first-contentful-paint").length === 1`);
    },
    async [Symbol.asyncDispose]() {
      release();
      await loaded;
      page.off("request", onRequest);
      await page.setRequestInterception(false);
    },
  };
}

async function visibleText(page: Page): Promise<string> {
  return String(await page.evaluate("document.body.innerText")).trim();
}

async function isVisible(page: Page, selector: string): Promise<boolean> {
  return Boolean(await page.evaluate(`document.querySelector("${selector}").checkVisibility()`));
}

async function builtManifest(): Promise<PageManifest> {
  if (!(await readManifest(version))) {
    const child = Bun.spawn([process.execPath, BUILD], {
      env: { NODE_ENV: "production" },
      stderr: "inherit",
    });
    expect(await child.exited).toBe(0);
  }
  return (await readManifest(version))!;
}

/** Returns the name of the only script that the page itself loads. */
async function firstScript(): Promise<string> {
  const { page } = await builtManifest();
  return namesIn(await textOf(page)).find((name) => name.endsWith(".js"))!;
}

async function textOf(name: string): Promise<string> {
  return await Bun.file(join(DIRECTORY, version, name)).text();
}

/** Returns the names of the console's files that a text refers to. */
function namesIn(text: string): string[] {
  return [...new Set(text.matchAll(/\/console\/assets\/([\w.-]+)/g).map(([, name = ""]) => name))];
}
