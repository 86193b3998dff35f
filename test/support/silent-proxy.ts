import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Forwards TCP connections to a server. It can silence connections, like a firewall that drops packets. */
export interface SilentProxy extends Disposable {
  /** Returns `address` with the proxy's host and port instead of the server's. */
  through(address: string): string;
  /** Number of open connections that are not silenced. */
  readonly live: number;
  /**
   * Silences the open connections for ever: the proxy forwards nothing on them and never closes them. With `isForAll`,
   * new connections are silent too until `recover` is called.
   */
  silence(options?: { isForAll?: boolean }): void;
  /** Forwards new connections again. */
  recover(): void;
}

export async function startSilentProxy(target: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const live = new Set<Socket>();
  let isSilentForAll = false;
  const server = createServer((client) => {
    sockets.add(client);
    client.on("error", () => {}).on("close", () => sockets.delete(client));
    if (isSilentForAll) return;
    live.add(client);
    const upstream = connect(Number(port), hostname);
    sockets.add(upstream);
    const forward = (from: Socket, to: Socket) => {
      from.on("data", (bytes) => live.has(client) && to.write(bytes));
      from
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(from);
          if (live.delete(client)) to.destroy();
        });
    };
    forward(client, upstream);
    forward(upstream, client);
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await listening;
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    through(address) {
      const url = new URL(address);
      url.hostname = "127.0.0.1";
      url.port = String(ownPort);
      return url.href;
    },
    get live() {
      return live.size;
    },
    silence({ isForAll = false } = {}) {
      isSilentForAll = isForAll;
      live.clear();
    },
    recover() {
      isSilentForAll = false;
    },
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
