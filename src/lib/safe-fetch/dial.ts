import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import type { Link } from "./link.ts";

/** A request to one checked address: a GET, or a POST when it has a body. */
interface DialTarget {
  link: Link;
  /** The only address to connect to. */
  address: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Called when the connection is established and the certificate is valid. */
  onConnect(): void;
}

/** Sends the request and returns the response. Does not follow redirects and does not decode the body. */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Response>;

/**
 * Returns a function that connects with Bun's fetch. `certificateAuthority` (PEM) replaces the system's authorities,
 * for tests.
 */
export function createDial(certificateAuthority?: string): Dial {
  return (target, signal) => {
    const { link, address } = target;
    const dialled = dialledAt(link.url, address, certificateAuthority, () => target.onConnect());
    const options: BunFetchRequestInit & { decompress: boolean } = {
      headers: { ...target.headers, host: dialled.host },
      ...(target.body !== undefined && { method: "POST", body: target.body }),
      redirect: "manual",
      keepalive: false,
      decompress: false,
      proxy: false,
      signal,
      tls: dialled.tls,
    };
    return fetch(dialled.url, options);
  };
}

/**
 * Returns a URL with a checked address in place of the host, the `Host` header, and TLS options that still require the
 * host's certificate.
 */
export function dialledAt(
  url: URL,
  address: string,
  certificateAuthority?: string,
  onConnect: () => void = () => {},
) {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const dialled = new URL(url);
  dialled.hostname = address.includes(":") ? `[${address}]` : address;
  const tls: BunFetchRequestInit["tls"] = {
    ...(isIP(host) === 0 && { serverName: host }),
    ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
    // Because this request has its own check of the certificate, Bun opens a new connection for the request and never
    // uses a pooled connection.
    checkServerIdentity: (_name, certificate) => {
      const error = checkServerIdentity(host, certificate);
      if (!error) onConnect();
      return error;
    },
  };
  return { url: dialled, host: url.host, tls };
}
