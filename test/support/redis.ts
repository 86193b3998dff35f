import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient } from "bun";
import { freePort } from "./free-port.ts";

/** A private Redis server in a temporary folder, on a free loopback port, without persistence. */
export interface PrivateRedis {
  url: string;
  /** Suspends the process, like a frozen machine. */
  freeze(): void;
  thaw(): void;
  /** Kills the server with its data. `restart` starts an empty server on the same port. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Runs one command. */
  ask(command: string, args: string[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** Returns the server's program, or the reason why it is missing. */
export function findRedis(): { binary: string } | { missing: string } {
  const binary = Bun.which("redis-server") ?? Bun.which("valkey-server");
  return binary ? { binary } : { missing: "neither redis-server nor valkey-server is on PATH" };
}

/** Starts a server. Throws when the server does not respond within ten seconds. */
export async function startRedis(binary: string): Promise<PrivateRedis> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-redis-"));
  const port = freePort();
  const url = `redis://127.0.0.1:${port}`;
  const ask = async (command: string, args: string[]): Promise<unknown> => {
    const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: 500 });
    try {
      await client.connect();
      return await client.send(command, args);
    } finally {
      client.close();
    }
  };
  const launch = async () => {
    const child = Bun.spawn({
      cmd: [
        binary,
        "--port",
        String(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--save",
        "",
        "--appendonly",
        "no",
      ],
      stdio: ["ignore", "ignore", "ignore"],
    });
    await untilServing(() => ask("PING", []));
    return child;
  };
  let server = await launch();
  const crash = async () => {
    server.kill("SIGKILL");
    await server.exited;
  };
  return {
    url,
    freeze: () => process.kill(server.pid, "SIGSTOP"),
    thaw: () => process.kill(server.pid, "SIGCONT"),
    crash,
    async restart() {
      server = await launch();
    },
    ask,
    async stop() {
      await crash();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const READY_TIMEOUT_MS = 10_000;

async function untilServing(ask: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await Bun.sleep(10);
    }
  }
}
