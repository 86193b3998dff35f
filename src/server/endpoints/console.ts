import { GatewayError } from "../../domain/gateway-error.ts";
import { sleep } from "../../lib/waiting.ts";
import {
  acceptsGzip,
  type BuiltFile,
  FOREVER,
  notice,
  sendBuiltFile,
  sendPageWithNonce,
} from "../built-file.ts";
import type { HttpExchange, Reachability } from "../http-exchange.ts";
import type { HttpRoute } from "../routes.ts";
import { hasSessionCookie } from "../signed-in.ts";

export interface ConsoleFiles {
  /** Resolves to true once the files are built, and to false when the build failed. */
  isReady(): Promise<boolean>;
  /**
   * Returns the page, and the hash of the script inside the page as a source for the content security policy. Each
   * response must replace the `NONCE` and the `ROOT_CLASS` in the page.
   */
  page(): Promise<{ html: string; script: string }>;
  /** Returns a file that the page loads; null for an unknown name. */
  file(name: string, acceptsGzip: boolean): Promise<BuiltFile | null>;
}

/** Placeholder in the page for the class of the element around its first paint. */
const ROOT_CLASS = "class-of-this-response";
/** The pages that are not inside the console's frame, even for a member who is signed in. */
const UNFRAMED: ReadonlySet<string> = new Set(["sign-in", "key"]);
/** Makes the browser request the signed-in member before it runs the page's scripts, which also request the member. */
const EARLY_SESSION = "</admin/v1/session>; rel=preload; as=fetch; crossorigin";

/** Maximum time that a request waits for a running build. */
const PATIENCE_MS = 3_000;
const RETRY_SECONDS = 2;

/** Returns the routes of the console: one page for all addresses below `/console`, and the files of this page. */
export function consoleRoutes(files: ConsoleFiles, reach: Reachability): HttpRoute[] {
  const route = (path: string, handle: (exchange: HttpExchange) => Promise<Response>): HttpRoute => ({
    method: "GET",
    path,
    name: "console",
    family: "images",
    auth: "public",
    because: "the page shows nothing before somebody signs in",
    handle,
  });
  const page = (exchange: HttpExchange) => sendPage(files, reach, exchange);
  return [
    route("/console", page),
    route("/console/", page),
    route("/console/{page}", page),
    route("/console/assets/{name}", (exchange) => sendFile(files, exchange)),
  ];
}

async function sendPage(files: ConsoleFiles, reach: Reachability, exchange: HttpExchange): Promise<Response> {
  const isReady = await Promise.race([files.isReady(), sleep(PATIENCE_MS).then(() => "later" as const)]);
  if (isReady === "later") {
    const sentence = "The console is being prepared. This page opens it in a moment.";
    return notice(exchange, "Console", sentence, RETRY_SECONDS);
  }
  if (isReady) {
    const { html, script } = await files.page();
    const isFramed = hasSessionCookie(reach, exchange) && !UNFRAMED.has(exchange.parameter);
    const page = html.replace(ROOT_CLASS, isFramed ? "signed-in" : "signed-out");
    const response = sendPageWithNonce(exchange, page, { scripts: `'self' ${script}` });
    if (isFramed) response.headers.set("link", EARLY_SESSION);
    return response;
  }
  return notice(
    exchange,
    "Console",
    "The console has not been built, and building it failed here: the reason is in the log. Run <code>npm run build</code> in the folder of the program; this page then opens it.",
  );
}

async function sendFile(files: ConsoleFiles, exchange: HttpExchange): Promise<Response> {
  const file = await files.file(exchange.parameter, acceptsGzip(exchange.request));
  if (!file) throw new GatewayError("not_found", "There is nothing at this path.");
  return sendBuiltFile(exchange, file, { "cache-control": FOREVER });
}
