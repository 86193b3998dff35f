import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
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
  /** Copies the running server, as a backup or as a standby that follows it for a moment and then lags behind. */
  copy(kind: "backup" | "standby"): Promise<void>;
  /** Kills the server and starts the copy in its place, on the same port. */
  goBack(): Promise<void>;
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
  const user = process.getuid?.() === 0 ? userPostgres() : null;
  const folders: string[] = [];
  const newFolder = () => {
    const path = mkdtempSync(join(tmpdir(), "gateway-postgres-"));
    if (user) chownSync(path, user.uid, user.gid);
    folders.push(path);
    return path;
  };
  let data = newFolder();
  let copied = data;
  const asUser = user ? ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"] : [];
  const initdb = Bun.spawnSync(
    asUser.concat(
      [join(folder, "initdb"), "-D", data, "-A", "trust", "-U", "postgres"],
      ["-E", "UTF8", "--no-sync", "--locale=C"],
    ),
  );
  if (!initdb.success) throw new Error(`initdb failed: ${initdb.stderr}`);
  const port = freePort();
  const addressAt = (at: number) => `postgres://postgres@127.0.0.1:${at}/postgres`;
  const administrate = addressAt(port);
  const launch = async (files = data, at = port) => {
    const command = [join(folder, "postgres"), "-D", files, "-p", String(at), ...SETTINGS];
    const child = Bun.spawn({
      cmd: [...asUser, ...command, ...(isDurable ? [] : VOLATILE)],
      stdio: ["ignore", "ignore", "ignore"],
    });
    await untilReady(addressAt(at));
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
    async copy(kind) {
      copied = newFolder();
      const program = join(realpathSync(join(folder, "postgres")), "../pg_basebackup");
      const command = [program, "-D", copied, "-d", administrate, "-c", "fast", "--no-sync"];
      const follow = kind === "standby" ? ["-R"] : [];
      const backup = Bun.spawn([...asUser, ...command, ...follow], { stderr: "pipe" });
      if ((await backup.exited) !== 0) throw new Error(await backup.stderr.text());
      if (kind === "backup") return;
      const standby = await launch(copied, freePort());
      standby.kill("SIGINT");
      await standby.exited;
    },
    async goBack() {
      await end("SIGQUIT");
      data = copied;
      server = await launch();
      const sql = new SQL(administrate, { max: 1 });
      const [row] = await sql`SELECT pg_is_in_recovery() AS "isStandby"`;
      if (row.isStandby) await sql`SELECT pg_promote()`;
      await sql.close();
    },
    async stop() {
      await end("SIGQUIT");
      for (const files of folders) rmSync(files, { recursive: true, force: true });
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
