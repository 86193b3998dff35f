import { baseHeaders } from "../respond.ts";
import type { Route } from "../routes.ts";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Gateway console</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:38rem;margin:15vh auto;padding:0 1.5rem}code{background:#8882;padding:.1em .3em;border-radius:.2em}</style>
<h1>The gateway is running</h1>
<p>This version is administered from the command line; its administrator login waits for the console.</p>
<p>Start with <code>npm start -- --help</code>, <code>npm start -- keys list</code> and <code>npm start -- orgs list</code>.</p>
`;

/** The console's address, printed at the first start: explains how this version is administered. */
export function consoleRoutes(): Route[] {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  };
  return [
    {
      method: "GET",
      path: "/console",
      name: "console",
      family: "images",
      auth: "public",
      because: "it shows nothing that is not public",
      handle: ({ requestId }) => new Response(PAGE, { headers: { ...headers, ...baseHeaders(requestId) } }),
    },
  ];
}
