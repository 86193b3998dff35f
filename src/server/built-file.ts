import type { HttpExchange } from "./http-exchange.ts";
import { baseHeaders } from "./respond.ts";

/** A file that was built for browsers: of the console, or of the documents. */
export interface BuiltFile {
  bytes: Blob;
  encoding?: "gzip";
  /** Media type. */
  type: string;
}

/** Placeholder in a page for the nonce that its component library gives to its few style elements. */
export const NONCE = "nonce-of-this-response";

/** Of files whose names have a hash of their content. */
export const FOREVER = "public, max-age=31536000, immutable";

export function acceptsGzip({ headers }: Request): boolean {
  return /\bgzip\b/.test(headers.get("accept-encoding") ?? "");
}

/** Sends a file as it was built, compressed where the browser takes that. */
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

/** Sends a page with a nonce of its own in the place of each `NONCE`. */
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

/** Returns a page of one sentence in place of one that is not built; it loads itself again where waiting helps. */
export function notice(
  { requestId }: HttpExchange,
  title: string,
  sentence: string,
  retrySeconds?: number,
): Response {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width"><title>${title}</title><p>${sentence}</p></html>`;
  const again = retrySeconds !== undefined && {
    "retry-after": String(retrySeconds),
    refresh: String(retrySeconds),
  };
  const headers = { ...baseHeaders(requestId), ...pageHeaders({ styles: "'none'" }), ...again };
  return new Response(page, { status: 503, headers });
}

/** Sources of a page's content security policy. */
interface PagePolicy {
  scripts: string;
  styles: string;
  /** Of `style` attributes; those of `styles` when absent. */
  styleAttributes: string;
}

/** Returns the headers of a page: it loads from this gateway alone, and no other page may frame it. */
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
