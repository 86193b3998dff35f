import { expect, test } from "bun:test";
import type { HttpExchange } from "../http-exchange.ts";
import { consoleRoutes, type ConsoleFiles } from "./console.ts";

const FILES: ConsoleFiles = {
  isReady: async () => true,
  page: async () => `<meta content="nonce-of-this-response"><script src="a.js">`,
  file: async (name) => (name === "a.js" ? { bytes: new Blob(["1"]), type: "text/javascript" } : null),
};

test("each page has a nonce of its own, which its policy names", async () => {
  const nonces = await Promise.all(
    ["/console", "/console/{page}"].map(async (path) => {
      const response = await get(FILES, path);
      const nonce = /content="([\w-]{36})"/.exec(await response.text())?.[1];
      expect(response.headers.get("content-security-policy")).toContain(`style-src 'self' 'nonce-${nonce}'`);
      expect(response.headers.get("cache-control")).toBe("no-store");
      return nonce;
    }),
  );
  expect(new Set(nonces).size).toBe(2);
});

test("a browser's request during the build gets a page that reloads itself", async () => {
  const response = await get(
    { ...FILES, isReady: () => Promise.withResolvers<boolean>().promise },
    "/console",
  );
  expect(response.status).toBe(503);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(response.headers.get("refresh")).toBe(response.headers.get("retry-after"));
  const page = await response.text();
  expect(page).toContain("being prepared");
  // Without a declared icon, the browser asks for `/favicon.ico`, which is then a failed request in the log.
  expect(page).toContain(`<link rel="icon"`);
});

test("when the build fails, the page names the command to run", async () => {
  const response = await get({ ...FILES, isReady: async () => false }, "/console");
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBeNull();
  expect(await response.text()).toContain("npm run build");
});

test("an unknown file is not found, and a known one is cached for good", async () => {
  const file = await get(FILES, "/console/assets/{name}", "a.js");
  expect(file.headers.get("cache-control")).toContain("immutable");
  expect(get(FILES, "/console/assets/{name}", "../../package.json")).rejects.toThrow("nothing at this path");
});

async function get(files: ConsoleFiles, path: string, parameter = ""): Promise<Response> {
  const route = consoleRoutes(files).find((each) => each.path === path)!;
  const request = new Request("http://gateway/console");
  const exchange = { request, requestId: "req_1", parameter } as HttpExchange;
  return (await route.handle(exchange as never)) as Response;
}
