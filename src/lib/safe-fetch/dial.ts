import { checkServerIdentity } from "node:tls";
import type { Link } from "./link.ts";

/** One request to one address that was found to be public. */
export interface DialTarget {
  link: Link;
  /** The address to connect to; nothing else may be. */
  address: string;
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body: Uint8Array<ArrayBuffer> | undefined;
  /** To be called once the connection stands and the certificate is right. */
  onConnect(): void;
}

/** Sends the request and answers with what came back, redirects and encoded bodies as they are. */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Response>;

/** Dials with Bun's fetch. `certificateAuthority` (PEM) stands in for the system's own; tests use it. */
export function createDial(certificateAuthority?: string): Dial {
  return (target, signal) => {
    const { link, address } = target;
    const dialled = new URL(link.url);
    dialled.hostname = address.includes(":") ? `[${address}]` : address;
    const options: BunFetchRequestInit & { decompress: boolean } = {
      method: target.method,
      headers: { ...target.headers, host: link.url.host },
      body: target.body,
      redirect: "manual",
      keepalive: false,
      decompress: false,
      proxy: false,
      signal,
      tls: {
        ...(link.isAddress ? {} : { serverName: link.host }),
        ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
        // A check of its own also gives the request a connection of its own.
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
