import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { freePort } from "./free-port.ts";
import { until } from "./gateway.ts";
import { userPostgres } from "./postgres.ts";

/** PgBouncer in front of a private PostgreSQL server. Each transaction may get another session of the server. */
export interface PgBouncer extends AsyncDisposable {
  /** Returns `address` with the pooler in place of the server. */
  through(address: string): string;
}

/** Returns the program, or the reason why it is missing. */
export function findPgBouncer(): { binary: string } | { missing: string } {
  const binary = Bun.which("pgbouncer", { PATH: `${process.env["PATH"]}:/usr/sbin` });
  return binary ? { binary } : { missing: "pgbouncer is not on PATH" };
}

/** Starts PgBouncer on a loopback port in front of the server. The given lines extend its configuration. */
export async function startPgBouncer(
  binary: string,
  serverPort: number,
  lines: readonly string[] = [],
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-pgbouncer-"));
  const port = freePort();
  const [path, users] = [join(folder, "pgbouncer.ini"), join(folder, "users")];
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(
    path,
    [
      "[databases]",
      `* = host=127.0.0.1 port=${serverPort}`,
      "[pgbouncer]",
      "listen_addr=127.0.0.1",
      `listen_port=${port}`,
      "unix_socket_dir=",
      "auth_type=trust",
      `auth_file=${users}`,
      // There are fewer sessions than connections. So a connection's transactions can get different sessions.
      "pool_mode=transaction",
      "default_pool_size=6",
      "max_client_conn=1000",
      "server_login_retry=1",
      ...lines,
      "",
    ].join("\n"),
  );
  const user = process.getuid?.() === 0 ? userPostgres() : null;
  if (user) for (const name of [folder, path, users]) chownSync(name, user.uid, user.gid);
  const asUser = user ? ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"] : [];
  const child = Bun.spawn([...asUser, binary, path], { stdio: ["ignore", "ignore", "ignore"] });
  const through = (address: string): string => {
    const url = new URL(address);
    url.port = String(port);
    return url.href;
  };
  await until("PgBouncer", () => responds(through("postgres://postgres@127.0.0.1/postgres")));
  return {
    through,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function responds(address: string): Promise<true | undefined> {
  const sql = new SQL(address, { max: 1, prepare: false, connectionTimeout: 1 });
  try {
    await sql`SELECT 1`;
    return true;
  } catch {
    return undefined;
  } finally {
    await sql.close();
  }
}
