import type { AdminStore } from "../../admin/admin-store.ts";
import { adminTokenStore } from "./admin-tokens.ts";
import { alertStore } from "./alert-watch.ts";
import { alertAdminStore } from "./alerts.ts";
import { auditStore } from "./change.ts";
import { budgetAdminStore } from "./budgets.ts";
import { configurationStore } from "./configuration.ts";
import { correctionStore } from "./corrections.ts";
import { jobAdminStore } from "./jobs.ts";
import { keyStore } from "./keys.ts";
import { leaseStore, type LeaseStore } from "../budgets/leases.ts";
import { ledgerStore, type LedgerStore } from "./ledger.ts";
import { linkSecretStore } from "./link-secrets.ts";
import { migrate } from "../database/migrate.ts";
import { memberStore } from "./members.ts";
import { archiveStore } from "./ledger-archive.ts";
import type { AlertStore } from "../../alerts/ports.ts";
import type { JobStore } from "../../jobs/ports.ts";
import type { WebhookQueue } from "../../jobs/webhook-ports.ts";
import { jobStore } from "../jobs/index.ts";
import { webhookQueue } from "../jobs/webhooks.ts";
import { webhookStore } from "./webhooks.ts";
import { verifyLedger } from "./verification.ts";
import { outcomeStore } from "./outcomes.ts";
import { organizationStore } from "./organizations.ts";
import { priceStore } from "./prices.ts";
import { pictureStore } from "./pictures.ts";
import { promptStore } from "./prompts.ts";
import { requestStore } from "./request-log.ts";
import { sessionStore, signInAttemptStore } from "./sessions.ts";
import { usageStore } from "./usage.ts";
import { readableSequence } from "../database/ledger-sequence.ts";
import { openDatabase, type DatabaseOptions } from "../database/open.ts";
import type { AuditStore } from "../../admin/audit/store-port.ts";
import type { Database, Sql } from "../database/sql.ts";

/** The stores of all data in the database. Commands that serve no requests need nothing else. */
export interface Stores {
  database: Database;
  admin: AdminStore;
  audit: AuditStore;
  ledger: LedgerStore;
  leases: LeaseStore;
  outcomes: ReturnType<typeof outcomeStore>;
  jobs: JobStore;
  webhooks: WebhookQueue;
  alerts: AlertStore;
}

/**
 * Opens a `postgres://` address or a SQLite file and migrates it to the schema that this program needs. Throws a
 * `DependencyError` when the database is unavailable, and an `Error` when the database belongs to a newer program.
 */
export async function openStores(location: string, options: StoresOptions = {}): Promise<Stores> {
  const database = await openDatabase(location, options);
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return storesOn(database, options.journals);
}

interface StoresOptions extends DatabaseOptions {
  /** The folder of all journals of this machine, for verifying the ledger. */
  journals?: string;
}

/** Returns the stores of a database that is already migrated. */
export function storesOn(database: Database, journals?: string): Stores {
  const audit = auditStore(database);
  const ledger = ledgerStore(database);
  return {
    database,
    admin: {
      organizations: organizationStore(database),
      keys: keyStore(database),
      prices: priceStore(database),
      budgets: budgetAdminStore(database),
      members: memberStore(database),
      sessions: sessionStore(database),
      adminTokens: adminTokenStore(database),
      signInAttempts: signInAttemptStore(database),
      linkSecrets: linkSecretStore(database),
      webhooks: webhookStore(database),
      alerts: alertAdminStore(database),
      prompts: promptStore(database),
      jobs: jobAdminStore(database),
      configuration: configurationStore(database),
      ledger: {
        list: ledger.list,
        listPosted: ledger.listPosted,
        readableSequence: () => readableSequence(database),
        position: ledger.position,
        ...correctionStore(database),
        verify: () => verifyLedger(database, journals ?? null),
        ...archiveStore(database),
      },
      audit,
      usage: usageStore(database),
      requests: requestStore(database),
      pictures: pictureStore(database),
      atomically: (work) => transactionOf(database, (joined) => work(storesOn(joined, journals).admin)),
    },
    audit,
    ledger,
    leases: leaseStore(database),
    outcomes: outcomeStore(database),
    jobs: jobStore(database),
    webhooks: webhookQueue(database),
    alerts: alertStore(database),
  };
}

/** Maximum duration of a transaction with many changes. */
const TIMEOUT_MS = 60_000;

/**
 * Runs work on the database as one transaction. Reads in `work` see the earlier changes of `work`, and inner
 * transactions become parts of this transaction. When `work` throws, nothing is changed.
 */
function transactionOf<Result>(
  database: Database,
  work: (joined: Database) => Promise<Result>,
): Promise<Result> {
  return database.begin((sql) => work(joinedTo(database, sql)), TIMEOUT_MS);
}

function joinedTo(database: Database, sql: Sql): Database {
  const run = async <T>(part: (sql: Sql) => PromiseLike<T>): Promise<T> => await part(sql);
  return { ...database, read: run, readConsistently: run, begin: run };
}
