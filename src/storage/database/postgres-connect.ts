import { SQL } from "bun";
import { accessSync, constants } from "node:fs";
import { DependencyError } from "../../gateway/dependency-error.ts";
import { type Encryption, type PostgresServer, readPostgresAddress } from "../../lib/postgres-address.ts";

/** An open connection. If the address contains several servers, the connected server accepts writes. */
export interface PostgresConnection {
  /** A client with only this connection. */
  sql: SQL;
  /**
   * True when a pooler in front of the server may run each transaction in a different session, as PgBouncer does with
   * `pool_mode = transaction`. Settings then do not outlive a transaction, and LISTEN does not work.
   */
  isPooled: boolean;
  /**
   * True after the connection has ended. After the end, the client library would connect again by itself, but only to
   * the same server.
   */
  readonly hasEnded: boolean;
}

interface PostgresConnector {
  /**
   * Connects to the last used server, otherwise to the next reachable one. Of several servers, only one that accepts
   * writes is used. Throws a `DependencyError` when there is no such server. When the signal aborts, the attempt is
   * given up.
   */
  connect(signal: AbortSignal): Promise<PostgresConnection>;
  /**
   * Returns a client used only for `listen`. The client connects to the last used server and never changes to another
   * server. This is enough, because listeners also poll.
   */
  listener(): SQL;
  /** The statements that set timeouts and other settings at the beginning of a transaction through a pooler. */
  readonly transactionSettings: string;
}

export function postgresConnector(location: string, timeoutMs: number): PostgresConnector {
  return new Connector(location, timeoutMs);
}

const CONNECT_TIMEOUT_SECONDS = 1;

class Connector implements PostgresConnector {
  readonly #servers: readonly PostgresServer[];
  readonly #database: string;
  readonly #timeoutMs: number;
  readonly #settings: Readonly<Record<string, string>>;
  /** Index of the server to try first. */
  #next = 0;
  /** Null until a connection has shown whether there is a pooler. */
  #isPooled: boolean | null = null;

  constructor(location: string, timeoutMs: number) {
    const { database, servers } = readPostgresAddress(location);
    this.#servers = servers;
    this.#database = database;
    this.#timeoutMs = timeoutMs;
    this.#settings = {
      synchronous_commit: "on",
      statement_timeout: String(timeoutMs),
      lock_timeout: String(timeoutMs),
      idle_in_transaction_session_timeout: String(timeoutMs * 2),
      // With JIT, the server would spend more time on compiling a report than on running it.
      jit: "off",
      // Starting workers takes longer than most reports, and reports that are read together would compete for the
      // processors. Reading a whole table is still divided among workers.
      parallel_setup_cost: "100000",
    };
  }

  get transactionSettings(): string {
    return Object.entries(this.#settings)
      .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
      .join(";");
  }

  async connect(signal: AbortSignal): Promise<PostgresConnection> {
    let failure: unknown;
    let advice: string | null = null;
    for (const _ of this.#servers) {
      signal.throwIfAborted();
      const index = this.#next;
      const server = this.#servers[index] as PostgresServer;
      try {
        return await this.#connectTo(server, signal);
      } catch (error) {
        failure = error;
        advice = tlsAdvice(error, server.url);
        this.#next = (index + 1) % this.#servers.length;
      }
    }
    throw failure instanceof DependencyError
      ? failure
      : new DependencyError("the database is unavailable", { cause: failure, advice });
  }

  listener(): SQL {
    return this.#client(this.#servers[this.#next] as PostgresServer, { isPooled: false });
  }

  async #connectTo(server: PostgresServer, signal: AbortSignal): Promise<PostgresConnection> {
    const open = async (isPooled: boolean) => {
      const connection = await this.#open(server, isPooled, signal);
      this.#isPooled = isPooled;
      return connection;
    };
    if (this.#isPooled) return await open(true);
    try {
      return await open(false);
    } catch (error) {
      if (!isOfPooler(error)) throw error;
    }
    return await open(true);
  }

  async #open(server: PostgresServer, isPooled: boolean, signal: AbortSignal): Promise<PostgresConnection> {
    let hasEnded = false;
    const sql = this.#client(server, { isPooled, onclose: () => (hasEnded = true) });
    const giveUp = () => void sql.close({ timeout: 0 }).catch(() => undefined);
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      await sql.connect();
      // With a single server, only the first connection is inspected: this saves a round trip for later connections.
      if (this.#isPooled === null || this.#servers.length > 1) await this.#inspect(sql, isPooled);
    } catch (error) {
      giveUp();
      throw error;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
    return {
      sql,
      isPooled,
      get hasEnded() {
        return hasEnded;
      },
    };
  }

  /**
   * Throws when a connection without a pooler lacks the settings of its session, or when this server accepts no
   * writes and there are several servers.
   */
  async #inspect(sql: SQL, isPooled: boolean): Promise<void> {
    const [row] = await sql<{ has_settings: boolean; only_reads: string }[]>`
      SELECT current_setting('statement_timeout')::interval = ${`${this.#timeoutMs} ms`}::text::interval AS has_settings,
        current_setting('transaction_read_only') AS only_reads`;
    if (!isPooled && row?.has_settings !== true) throw new SettingsDropped();
    if (this.#servers.length > 1 && row?.only_reads !== "off")
      throw new DependencyError("no server of the database accepts changes");
  }

  /**
   * Returns a client with one connection. It sends TCP keepalives after 60 s of silence (Bun manual, SQL, timeouts).
   */
  #client(
    { url, encryption }: PostgresServer,
    { isPooled, onclose }: { isPooled: boolean; onclose?: () => void },
  ): SQL {
    return new SQL(url, {
      adapter: "postgres",
      bigint: true,
      max: 1,
      connectionTimeout: CONNECT_TIMEOUT_SECONDS,
      // The database and the encryption are set explicitly, because PGDATABASE or PGSSLMODE in the environment would
      // otherwise override the address.
      ...(this.#database === "" ? {} : { database: this.#database }),
      tls: TLS[encryption],
      ...(onclose && { onclose }),
      // A pooler may prepare and run a statement in different sessions, so no statements are prepared.
      ...(isPooled && { prepare: false }),
      connection: { application_name: "model-inference-gateway", ...(!isPooled && this.#sessionSettings) },
    });
  }

  get #sessionSettings(): Record<string, string> {
    return {
      ...this.#settings,
      // With these settings the server ends the session of a vanished machine after 90 s instead of two hours.
      tcp_keepalives_idle: "60",
      tcp_keepalives_interval: "10",
      tcp_keepalives_count: "3",
    };
  }
}

/** Encryption modes as settings of the driver, for which `require` means TLS with any certificate. */
const TLS = {
  disable: "disable",
  "no-verify": "require",
  "verify-ca": "verify-ca",
  "verify-full": "verify-full",
} as const satisfies Record<Encryption, string>;

/** The error for a pooler that accepted the settings of a session but did not pass them on. */
class SettingsDropped extends Error {}

/**
 * True when a pooler dropped the settings of a session or may have refused them. A refusal has an SQLSTATE that other
 * failures have as well.
 */
function isOfPooler(error: unknown): boolean {
  return (
    error instanceof SettingsDropped ||
    (error instanceof SQL.PostgresError && error.errno === PROTOCOL_VIOLATION)
  );
}

/** SQLSTATE of a protocol violation (PostgreSQL manual, appendix A). */
const PROTOCOL_VIOLATION = "08P01";

/**
 * Returns advice to the operator when TLS prevented a connection to PostgreSQL, and null for any other failure. `url`
 * is the address of the server. Certificate codes are OpenSSL's `X509_V_ERR_…` without the prefix.
 */
function tlsAdvice(error: unknown, url: string): string | null {
  const authorities = new URL(url).searchParams.get("sslrootcert");
  if (authorities !== null && !isReadable(authorities))
    return `sslrootcert names ${authorities}, which cannot be read: correct it in DATABASE_URL`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "name the host in DATABASE_URL as its certificate does, or set sslmode=verify-ca, which accepts another name";
  if (code === "ERR_POSTGRES_TLS_NOT_AVAILABLE")
    return "set up TLS on the server, or set sslmode=disable in DATABASE_URL where the network is trusted";
  if (/^(CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_)/.test(code))
    return "name the authority of the server's certificate in NODE_EXTRA_CA_CERTS, or by sslrootcert in DATABASE_URL; sslmode=no-verify accepts any certificate";
  return null;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
