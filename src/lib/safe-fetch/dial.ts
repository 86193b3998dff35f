import { checkServerIdentity } from "node:tls";
import type { Link } from "./link.ts";

/** A request to one address that was checked: a GET, or with a body a POST. */
interface DialTarget {
  link: Link;
  /** The only address to connect to. */
  address: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Called once the connection is established and the certificate is valid. */
  onConnect(): void;
}

/** Sends the request and returns the response; redirects are not followed, bodies not decoded. */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Response>;

/** Connects with Bun's fetch. `certificateAuthority` (PEM) replaces the system's authorities, for tests. */
export function createDial(certificateAuthority?: string): Dial {
  return (target, signal) => {
    const { link, address } = target;
    const dialled = new URL(link.url);
    dialled.hostname = address.includes(":") ? `[${address}]` : address;
    const options: BunFetchRequestInit & { decompress: boolean } = {
      headers: { ...target.headers, host: link.url.host },
      ...(target.body !== undefined && { method: "POST", body: target.body }),
      redirect: "manual",
      keepalive: false,
      decompress: false,
      proxy: false,
      signal,
      tls: {
        ...(link.isAddress ? {} : { serverName: link.host }),
        ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
        // A request with its own check is never sent over a pooled connection.
        checkServerIdentity: (_name, certificate) => {
          const error = checkServerIdentity(link.host, certificate);
          if (!error) target.onConnect();
          return error;
        },
      },
    };
    return fetch(dialled, options);
  };
}
