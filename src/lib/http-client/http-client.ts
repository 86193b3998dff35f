import { Connection, type ServerOrigin, writeRequest } from "./connection.ts";
import type { Cancellation } from "../waiting.ts";
import type { NetworkGuard } from "../network-guard.ts";
import { HttpError } from "./http-error.ts";
import type { HttpResponse } from "./response.ts";

/** A request with a text as its body. */
interface HttpRequest {
  /** An http or https address without credentials. */
  url: string;
  /**
   * If a request has the same headers object, address and guard as the last request with this object, the text of the
   * headers is not made again.
   */
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: Cancellation;
  /** Limits the addresses to connect to. Without a guard every address is allowed. */
  guard?: NetworkGuard | undefined;
}

/** Maximum number of unused connections that are kept for each origin and guard. */
const MAX_IDLE = 256;

/** The start of a request, up to the value of `content-length`. */
interface Prelude {
  url: string;
  origin: ServerOrigin;
  /** Identifies the origin and the guard, because another guard might refuse a connection's address. */
  key: string;
  text: string;
}

/**
 * HTTP/1.1 client with a low cost per call (RFC 9110, 9112). It runs on the calling thread and reuses connections. It
 * checks certificates and does not follow redirects. It has no timeout: only the signal aborts a call.
 */
export class HttpClient {
  readonly #certificateAuthority: string | undefined;
  readonly #idle = new Map<string, Connection[]>();
  readonly #preludes = new WeakMap<HttpRequest["headers"], Prelude>();

  /** `certificateAuthority` (PEM) replaces the system's authorities, for tests. */
  constructor(certificateAuthority?: string) {
    this.#certificateAuthority = certificateAuthority;
  }

  /**
   * Resolves with the response when its head is complete. Throws an `HttpError`, or the signal's reason. Never sends a
   * request twice: even a vendor that closed a reused connection may have executed the request.
   */
  async post({ url, headers, body, signal, guard }: HttpRequest): Promise<HttpResponse> {
    signal.throwIfAborted();
    const prelude = this.#preludeOf(url, headers, guard);
    const request = writeRequest(prelude.text, body, signal.traceparent);
    const kept = this.#take(prelude.key);
    if (kept) return kept.exchange(request, signal);
    const { origin, key } = prelude;
    return new Connection(origin, (connection) => this.#keep(key, connection)).exchange(request, signal);
  }

  #preludeOf(url: string, headers: HttpRequest["headers"], guard: NetworkGuard | undefined): Prelude {
    const known = this.#preludes.get(headers);
    if (known?.url === url && known.origin.guard === guard) return known;
    const prelude = preludeOf(url, headers, { certificateAuthority: this.#certificateAuthority, guard });
    this.#preludes.set(headers, prelude);
    return prelude;
  }

  /** Takes the connection that was used last. Connections that are not needed thus stay unused and are closed. */
  #take(key: string): Connection | null {
    const idle = this.#idle.get(key);
    for (let connection = idle?.pop(); connection; connection = idle?.pop())
      if (!connection.isClosed) return connection;
    return null;
  }

  #keep(key: string, connection: Connection): void {
    let idle = this.#idle.get(key);
    if (!idle) this.#idle.set(key, (idle = []));
    if (idle.length >= MAX_IDLE) idle.shift()?.close();
    idle.push(connection);
    connection.rest();
  }
}

function preludeOf(
  url: string,
  headers: HttpRequest["headers"],
  { certificateAuthority, guard }: Pick<ServerOrigin, "certificateAuthority" | "guard">,
): Prelude {
  const { protocol, hostname, port, host, pathname, search } = new URL(url);
  const isTls = protocol === "https:";
  // In HTTP/1.1 a connection stays open without this header; HTTP/1.0 servers need it.
  const lines = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`, "connection: keep-alive"];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${checked(name, value)}`);
  const origin = {
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: Number(port || (isTls ? 443 : 80)),
    isTls,
    certificateAuthority,
    guard,
  };
  const key = `${protocol}//${host}${guard ? ` ${guard.name}` : ""}`;
  return { url, origin, key, text: `${lines.join("\r\n")}\r\ncontent-length: ` };
}

/**
 * Returns a header's value, trimmed. Throws when the name or the value is invalid: a line break would begin another
 * header.
 */
function checked(name: string, value: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new HttpError("unsent", "a header has an invalid name");
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
    throw new HttpError("unsent", `the header ${name} has an invalid value`);
  return value.trim();
}
