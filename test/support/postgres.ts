import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { freePort } from "./free-port.ts";

/** A private PostgreSQL server in a temporary folder, on a free loopback port. By default it runs without fsync. */
export interface PrivatePostgres {
  readonly port: number;
  /** Creates an empty database and returns its address. */
  createDatabase(): Promise<string>;
  /** Suspends all processes of the server, like a frozen machine. */
  freeze(): void;
  thaw(): void;
  /** Kills the server, as in a crash. `restart` starts it again on the same port. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Copies the running server, as a backup or as a standby. The standby follows the server briefly and then stops. */
  copy(kind: "backup" | "standby"): Promise<void>;
  /** Kills the server and starts its copy on the same port. */
  goBack(): Promise<void>;
  /** Lets a standby server accept writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/** Returns the folder with `initdb` and `postgres`, or the reason why these programs are missing. */
export function findPostgres(): { folder: string } | { missing: string } {
  const onPath = Bun.which("postgres") && Bun.which("initdb");
  // The other programs, such as `pg_basebackup`, may be only beside the link's target.
  const folder = onPath ? join(realpathSync(onPath), "..") : debianFolder();
  if (!folder) return { missing: "no initdb and postgres on PATH or below /usr/lib/postgresql" };
  if (process.getuid?.() === 0 && !userPostgres()) {
    return { missing: "PostgreSQL refuses to run as root and there is no user postgres" };
  }
  return { folder };
}

export interface PostgresOptions {
  /** True enables fsync. */
  isDurable?: boolean;
  /** Enables TLS with this certificate and key, both in PEM. */
  tls?: { certificate: string; key: string };
  /** A server that the new server follows as a read-only standby. */
  primary?: PrivatePostgres;
}

/** Starts a server. Throws when the server is not ready within ten seconds. */
export async function startPostgres(
  folder: string,
  { isDurable = false, tls, primary }: PostgresOptions = {},
): Promise<PrivatePostgres> {
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
  if (primary) run([...asUser, ...copyOf(primary.port, folder, data, true)]);
  else initialize(folder, data, asUser);
  if (tls) writeCertificate(data, tls, user);
  const port = freePort();
  const addressAt = (at: number) => `postgres://postgres@127.0.0.1:${at}/postgres`;
  const administrate = addressAt(port);
  const launch = async (files = data, at = port) => {
    const command = [join(folder, "postgres"), "-D", files, "-p", String(at), ...SETTINGS];
    const child = Bun.spawn({
      cmd: [
        ...asUser,
        ...command,
        ...(isDurable ? [] : VOLATILE),
        ...(tls ? settings("ssl=on", "ssl_cert_file=server.crt", "ssl_key_file=server.key") : []),
      ],
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
        // A child process of the server has ended meanwhile.
      }
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    server.kill(signal);
    await server.exited;
  };
  return {
    port,
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
      const backup = Bun.spawn([...asUser, ...copyOf(port, folder, copied, kind === "standby")], {
        stderr: "pipe",
      });
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
    async promote() {
      const sql = new SQL(administrate, { max: 1 });
      await sql`SELECT pg_promote()`;
      await sql.close();
    },
    async stop() {
      await end("SIGQUIT");
      for (const files of folders) rmSync(files, { recursive: true, force: true });
    },
  };
}

const OPTIONS = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync", "--locale=C"];
const KEPT = join(import.meta.dir, "../../dist/test");

/** Fills a data folder. The first call runs `initdb`. Later calls copy its result in a tenth of the time. */
function initialize(folder: string, data: string, asUser: readonly string[]): void {
  const program = join(folder, "initdb");
  const made = [program, statSync(program).mtimeMs, ...asUser, ...OPTIONS, process.getuid?.()].join(" ");
  const kept = join(KEPT, `postgres-${Bun.hash(made).toString(36)}`);
  if (existsSync(kept)) return run(["cp", "-a", `${kept}/.`, data]);
  run([...asUser, program, "-D", data, ...OPTIONS]);
  const copy = `${kept}-${process.pid}`;
  mkdirSync(KEPT, { recursive: true });
  run(["cp", "-a", data, copy]);
  try {
    renameSync(copy, kept);
  } catch (error) {
    // Another test process has created `kept` meanwhile.
    rmSync(copy, { recursive: true, force: true });
    if (!existsSync(kept)) throw error;
  }
}

function run(command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`the database was not made: ${stderr}`);
}

function copyOf(port: number, folder: string, data: string, follows: boolean): string[] {
  const address = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const command = [
    join(folder, "pg_basebackup"),
    "-D",
    data,
    "-d",
    address,
    "--checkpoint=fast",
    "--no-sync",
  ];
  return follows ? [...command, "-R"] : command;
}

function writeCertificate(
  data: string,
  { certificate, key }: { certificate: string; key: string },
  user: { uid: number; gid: number } | null,
): void {
  writeFileSync(join(data, "server.crt"), certificate);
  const keyPath = join(data, "server.key");
  writeFileSync(keyPath, key, { mode: 0o600 });
  if (user) chownSync(keyPath, user.uid, user.gid);
}

/** Even without fsync, a crash of only the server loses no data, because the system has already received the data. */
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

/** Returns the user for servers that refuse to run as root; null if there is no user `postgres`. */
export function userPostgres(): { uid: number; gid: number } | null {
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : null;
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === "" ? [] : children.split(" ").map(Number);
}
