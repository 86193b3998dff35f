import { createServer, request as send, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { isMainRequest } from "./tools.ts";

export interface RecordingProxy extends AsyncDisposable {
  /** Address of the proxy. The program uses it as the gateway's address. */
  url: string;
  /** Variables that make the program use this proxy for all addresses. The proxy forwards only to this machine. */
  env: Record<string, string>;
  /** Number of requests that offered the task's tools. */
  mainRequests(): number;
  /** Each request with its status, and a failed request with its response. */
  log(): readonly string[];
}

/**
 * Starts a proxy between a program and the gateway. It forwards only to this machine, and counts the requests of the
 * program's main loop.
 */
export async function startRecordingProxy(gateway: string): Promise<RecordingProxy> {
  let count = 0;
  const log: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const target = targetOf(request, gateway);
    if (!target) return void response.writeHead(403).end();
    if (isMain(body)) count += 1;
    const { method, headers } = request;
    const forwarded = send(target, { method, headers: { ...headers, host: target.host } }, (reply) => {
      const { statusCode = 502 } = reply;
      const index = log.push(`${method} ${request.url} ${statusCode}`) - 1;
      if (statusCode >= 400)
        reply.on("data", (piece) => (log[index] = `${log[index]} ${piece}`.slice(0, 600)));
      response.writeHead(statusCode, reply.headers);
      reply.on("error", () => response.destroy()).pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    forwarded.end(body);
  });
  server.on("connect", ({ url = "" }, socket, head) => {
    const [host, port] = url.split(":");
    if (host !== "127.0.0.1") return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const tunnel = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      tunnel.write(head);
      tunnel.pipe(socket).pipe(tunnel);
    });
    tunnel.on("error", () => socket.destroy());
    socket.on("error", () => tunnel.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = "127.0.0.1,localhost";
  return {
    url,
    env: {
      ...Object.fromEntries(PROXY_VARIABLES.map((name) => [name, url])),
      NO_PROXY: own,
      no_proxy: own,
    },
    mainRequests: () => count,
    log: () => log,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/** Returns the address to call: the gateway's for a path, a full address if it is on this machine, or null. */
function targetOf({ url = "/" }: IncomingMessage, gateway: string): URL | null {
  const target = new URL(url, gateway);
  return target.hostname === "127.0.0.1" ? target : null;
}

function isMain(body: Buffer): boolean {
  try {
    return isMainRequest(JSON.parse(body.toString()));
  } catch {
    return false;
  }
}
