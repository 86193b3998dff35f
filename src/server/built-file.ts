import type { HttpExchange } from "./http-exchange.ts";
import { baseHeaders } from "./respond.ts";

/** A file of the console or the documents, built for browsers. */
export interface BuiltFile {
  bytes: Blob;
  encoding?: "gzip";
  /** Media type. */
  type: string;
}

/** Placeholder for a nonce in a page. The page's component library sets the nonce on its few style elements. */
export const NONCE = "nonce-of-this-response";

/** Value of `cache-control` for files whose names contain a hash of their content. */
export const FOREVER = "public, max-age=31536000, immutable";

export function acceptsGzip({ headers }: Request): boolean {
  return /\bgzip\b/.test(headers.get("accept-encoding") ?? "");
}

/** Returns the response that sends a built file; `bytes` are already in `encoding`. */
export function sendBuiltFile(
  { requestId }: HttpExchange,
  { bytes, encoding, type }: BuiltFile,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Response {
  return new Response(bytes, {
    status,
    headers: {
      ...baseHeaders(requestId),
      "content-type": type,
      vary: "accept-encoding",
      ...(encoding && { "content-encoding": encoding }),
      ...headers,
    },
  });
}

/** Sends a page in which each `NONCE` is replaced by a nonce made for this response. */
export function sendPageWithNonce(
  { requestId }: HttpExchange,
  page: string,
  policy: Partial<PagePolicy> = {},
): Response {
  const nonce = crypto.randomUUID();
  const styles = `'self' 'nonce-${nonce}'`;
  const headers = { ...baseHeaders(requestId), ...pageHeaders({ ...policy, styles }) };
  return new Response(page.replaceAll(NONCE, nonce), { headers });
}

/**
 * Returns a page with one sentence, in place of a page that is not built. With `retrySeconds`, the browser loads the
 * page again after this time. The page declares an empty icon, because otherwise the browser requests `/favicon.ico`.
 */
export function notice(
  { requestId }: HttpExchange,
  title: string,
  sentence: string,
  retrySeconds?: number,
): Response {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>${title}</title><p>${sentence}</p></html>`;
  const again = retrySeconds !== undefined && {
    "retry-after": String(retrySeconds),
    refresh: String(retrySeconds),
  };
  const headers = { ...baseHeaders(requestId), ...pageHeaders({ styles: "'none'" }), ...again };
  return new Response(page, { status: 503, headers });
}

/** The sources that the content security policy of a page allows. */
interface PagePolicy {
  scripts: string;
  styles: string;
  /** Sources of `style` attributes; by default the same as `styles`. */
  styleAttributes: string;
}

/** Returns the headers of a page. The page may load files only from this gateway, and no other page may frame it. */
export function pageHeaders({
  scripts = "'self'",
  styles = "'self'",
  styleAttributes,
}: Partial<PagePolicy>): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    ...(styleAttributes === undefined ? [] : [`style-src-attr ${styleAttributes}`]),
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ];
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
  };
}
