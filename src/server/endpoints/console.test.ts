import { expect, test } from "bun:test";
import { parseAddressList } from "../../lib/cidr.ts";
import type { HttpExchange } from "../http-exchange.ts";
import { consoleRoutes, type ConsoleFiles } from "./console.ts";

const FILES: ConsoleFiles = {
  isReady: async () => true,
  page: async () => ({
    html: `<meta content="nonce-of-this-response"><div class="class-of-this-response">`,
    script: "'sha256-of-the-script'",
  }),
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

test("only a browser with a session first sees the frame, and requests its member early", async () => {
  const session = "gateway_session=token";
  for (const [parameter, cookie, isFramed] of [
    ["", session, true],
    ["requests", session, true],
    ["sign-in", session, false],
    ["key", session, false],
    ["requests", "", false],
  ] as const) {
    const response = await get(FILES, "/console/{page}", parameter, cookie);
    expect(await response.text()).toContain(isFramed ? `class="signed-in"` : `class="signed-out"`);
    expect(response.headers.get("link")).toBe(
      isFramed ? "</admin/v1/session>; rel=preload; as=fetch; crossorigin" : null,
    );
  }
});

test("the page may run the script inside it, and no other", async () => {
  const policy = (await get(FILES, "/console")).headers.get("content-security-policy");
  expect(policy).toContain("script-src 'self' 'sha256-of-the-script';");
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
  // Without a declared icon, the browser requests `/favicon.ico`, which fails and adds a line to the log.
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

async function get(files: ConsoleFiles, path: string, parameter = "", cookie = ""): Promise<Response> {
  const reach = { trustedProxies: parseAddressList([]), publicUrl: "http://gateway" };
  const route = consoleRoutes(files, reach).find((each) => each.path === path)!;
  const request = new Request("http://gateway/console", { headers: { cookie } });
  const exchange = { request, requestId: "req_1", parameter } as HttpExchange;
  return (await route.handle(exchange as never)) as Response;
}
