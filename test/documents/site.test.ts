import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, PHONE, startTestConsole, WIDE, type TestConsole } from "../support/browser.ts";
import { isSiteBuilt, PAGES } from "./pages.ts";

const SIZES = [WIDE, { width: 1024, height: 768 }, PHONE];
/** The start page, a guide with code, a wide table, and the interface's page. */
const SHOWN = ["", "build/pictures", "reference/metrics", "api"];
const SEARCHED = [
  ["mask", "build/edits-and-masks"],
  ["idempotency", "build/idempotency-and-retries"],
] as const;

describe.skipIf(chromium === null || !isSiteBuilt)("the site of the documents, at the gateway", () => {
  let shown: TestConsole;
  const open = async (path: string) => {
    const response = await shown.page.goto(`${shown.gateway.url}/docs/${path}`, {
      waitUntil: "networkidle0",
    });
    expect([200, 304], path).toContain(response?.status() ?? 0);
  };
  beforeAll(async () => {
    shown = await startTestConsole();
  });
  afterAll(() => shown[Symbol.asyncDispose]());

  test.each(SHOWN)(
    "page '%s' is usable at three sizes, without findings and without other hosts",
    async (path) => {
      for (const size of SIZES) {
        await shown.resize(size);
        // A page stays loaded between two sizes of screens. A phone loads it anew.
        if (new URL(shown.page.url()).pathname !== `/docs/${path}`) await open(path);
        await shown.page.waitForSelector("h1");
        expect(await shown.accessibilityFindings(), `${size.width} pixels`).toEqual([]);
        const overflow = await shown.page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(overflow, `${size.width} pixels`).toBeLessThanOrEqual(0);
      }
      expect(shown.problems).toEqual([]);
      expect([...shown.foreignHosts]).toEqual([]);
    },
  );

  test.each(["light", "dark"])("a %s page has its colours and its drawing", async (scheme) => {
    await shown.resize(WIDE);
    await shown.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await open("run/three-machines");
    const seen = await shown.page.evaluate(`[
      getComputedStyle(document.documentElement).colorScheme,
      getComputedStyle(document.querySelector("td code")).backgroundColor,
      document.querySelector('img[alt^="A balancer"]').naturalWidth > 0,
    ]`);
    expect(seen).toEqual([scheme, scheme === "light" ? "rgb(241, 242, 244)" : "rgb(32, 33, 39)", true]);
  });

  test.each(SEARCHED)("a search for '%s' leads to %s", async (word, path) => {
    await shown.page.setViewport(WIDE);
    await open("");
    await shown.page.keyboard.press("/");
    await shown.page.keyboard.down("Control");
    await shown.page.keyboard.press("k");
    await shown.page.keyboard.up("Control");
    await shown.page.waitForSelector("input");
    await shown.page.focus("input");
    await shown.page.keyboard.sendCharacter(word);
    await shown.page.waitForSelector(`a[href*="/docs/${path}"]`);
  });

  test("the page of the interface begins with a request, whose commands can be copied", async () => {
    await shown.page.setViewport(WIDE);
    await open("api");
    const parts = await shown.page.evaluate(
      `[...document.querySelectorAll("h1, h2")].map((each) => each.innerText)`,
    );
    expect((parts as string[]).slice(0, 2)).toEqual(["Model inference gateway", "First request"]);
    await shown.page.evaluate(`location.hash = "tag/text/POST/v1/chat/completions"`);
    const commands = `[...document.querySelectorAll("pre")].map((each) => each.innerText).filter((text) => /^curl/.test(text))`;
    await shown.page.waitForFunction(`${commands}.length > 0`);
    for (const command of (await shown.page.evaluate(commands)) as string[])
      expect(command).toStartWith(`curl ${shown.gateway.url}/`);
  });

  test("pages load from the gateway alone, and an unknown one is a 404 with a page", async () => {
    for (const path of ["", "api", "build/pictures"]) {
      const { headers } = await fetch(`${shown.gateway.url}/docs/${path}`);
      expect(headers.get("content-security-policy"), path).toContain("default-src 'none'");
    }
    for (const path of ["page.ts", "nowhere", "..%2fpackage.json"]) {
      const response = await fetch(`${shown.gateway.url}/docs/${path}`);
      expect(response.status, path).toBe(404);
      expect(await response.text(), path).toContain("<html");
    }
  });

  test("every page has its place and a Markdown twin that llms.txt names", async () => {
    const list = await (await fetch(`${shown.gateway.url}/docs/llms.txt`)).text();
    const paths = PAGES.filter(({ path }) => path.startsWith("docs/")).map(({ path }) => path.slice(5));
    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths) {
      const twin = await fetch(`${shown.gateway.url}/docs/${path}`);
      expect(twin.headers.get("content-type"), path).toStartWith("text/markdown");
      expect(
        (await fetch(`${shown.gateway.url}/docs/${path.replace(/(?<![^/])index\.md$|\.md$/, "")}`)).status,
        path,
      ).toBe(200);
      if (path !== "index.md") expect(list.includes(`/docs/${path}`), path).toBe(true);
    }
  });
});
