import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { freePort } from "./free-port.ts";

/** A private PostgreSQL server in a temporary folder, on a free loopback port, by default without fsync. */
export interface PrivatePostgres {
  /** Creates an empty database and returns its address. */
  createDatabase(): Promise<string>;
  /** Suspends every process of the server, like a frozen machine. */
  freeze(): void;
  thaw(): void;
  /** Kills the server, like a crash, and starts it again on the same port. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The folder with `initdb` and `postgres`, or why none can be used. */
export function findPostgres(): { folder: string } | { missing: string } {
  const onPath = Bun.which("initdb") && Bun.which("postgres");
  const folder = onPath ? join(Bun.which("initdb")!, "..") : debianFolder();
  if (!folder) return { missing: "no initdb and postgres on PATH or below /usr/lib/postgresql" };
  if (process.getuid?.() === 0 && !userPostgres()) {
    return { missing: "PostgreSQL refuses to run as root and there is no user postgres" };
  }
  return { folder };
}

/** Starts a server; throws when it is not ready within ten seconds. `isDurable`: with fsync. */
export async function startPostgres(folder: string, { isDurable = false } = {}): Promise<PrivatePostgres> {
  const data = mkdtempSync(join(tmpdir(), "gateway-postgres-"));
  const user = process.getuid?.() === 0 ? userPostgres() : null;
  if (user) chownSync(data, user.uid, user.gid);
  const asUser = user ? ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"] : [];
  const initdb = Bun.spawnSync(
    asUser.concat(
      [join(folder, "initdb"), "-D", data, "-A", "trust", "-U", "postgres"],
      ["-E", "UTF8", "--no-sync", "--locale=C"],
    ),
  );
  if (!initdb.success) throw new Error(`initdb failed: ${initdb.stderr}`);
  const port = freePort();
  const administrate = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const launch = async () => {
    const child = Bun.spawn({
      cmd: [
        ...asUser,
        join(folder, "postgres"),
        "-D",
        data,
        "-p",
        String(port),
        ...SETTINGS,
        ...(isDurable ? [] : VOLATILE),
      ],
      stdio: ["ignore", "ignore", "ignore"],
    });
    await untilReady(administrate);
    return child;
  };
  let server = await launch();
  let count = 0;
  const signalAll = (signal: NodeJS.Signals) => {
    process.kill(server.pid, signal);
    for (const pid of childrenOf(server.pid)) {
      try {
        process.kill(pid, signal);
      } catch {
        // A child process of the server may have ended meanwhile.
      }
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    server.kill(signal);
    await server.exited;
  };
  return {
    async createDatabase() {
      count += 1;
      const sql = new SQL(administrate, { max: 1 });
      await sql.unsafe(`CREATE DATABASE gateway_${count}`);
      await sql.close();
      return `postgres://postgres@127.0.0.1:${port}/gateway_${count}`;
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    crash: () => end("SIGQUIT"),
    async restart() {
      server = await launch();
    },
    async stop() {
      await end("SIGQUIT");
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** A crash of the server alone loses no data that the operating system has, so fsync may be off. */
const VOLATILE = settings("fsync=off", "synchronous_commit=off", "full_page_writes=off");
const SETTINGS = settings("listen_addresses=127.0.0.1", "unix_socket_directories=", "shared_buffers=16MB");

function settings(...lines: string[]): string[] {
  return lines.flatMap((line) => ["-c", line]);
}

const READY_TIMEOUT_MS = 10_000;

async function untilReady(address: string): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const sql = new SQL(address, { max: 1, connectionTimeout: 1 });
    try {
      await sql`SELECT 1`;
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await Bun.sleep(20);
    } finally {
      await sql.close();
    }
  }
}

function debianFolder(): string | null {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return null;
  const folders = readdirSync(root)
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(root, version, "bin"));
  return folders.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

function userPostgres(): { uid: number; gid: number } | null {
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : null;
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === "" ? [] : children.split(" ").map(Number);
}
