import { Database as Connection, type SQLQueryBindings, type Statement } from "bun:sqlite";
import { DependencyError } from "../../gateway/dependency-error.ts";
import type { Sql } from "./sql.ts";

/** One connection to a SQLite file. A statement runs on the thread that awaits it. */
interface SqliteClient {
  sql: Sql;
  /**
   * Runs `work` in one transaction. Call this method for one transaction at a time. Rolls the transaction back if the
   * signal has aborted before the end of `work`.
   */
  transact<T>(mode: string, work: (sql: Sql) => PromiseLike<T>, signal: AbortSignal): Promise<T>;
  close(): void;
}

/**
 * Opens a connection to an existing file. Keeps statements prepared, because preparing one takes as long as running it.
 * Whole numbers are read as bigint.
 */
export function openSqliteClient(location: string): SqliteClient {
  const statements = new KeptStatements(new Connection(location, { readwrite: true, safeIntegers: true }));
  const run = (query: Query) => statements.run(query);
  const sql = ((first: TemplateStringsArray | object, ...values: unknown[]) =>
    isTemplate(first) ? composed(run, first, values) : new Inserted(first)) as Sql;
  sql.unsafe = <Rows>(text: string, values: unknown[] = []) =>
    new Query(run, text, values) as PromiseLike<unknown> as PromiseLike<Rows>;
  return {
    sql,
    async transact(mode, work, signal) {
      signal.throwIfAborted();
      await sql.unsafe(`BEGIN ${mode}`);
      try {
        const value = await work(sql);
        signal.throwIfAborted();
        await sql.unsafe("COMMIT");
        return value;
      } catch (error) {
        statements.rollBack();
        throw error;
      }
    },
    close: () => statements.close(),
  };
}

/** Maximum number of prepared statements. A text with a list has a variant for each length of the list. */
const MAX_KEPT = 400;
const MAX_KEPT_LENGTH = 64 * 1024;

class KeptStatements {
  readonly #connection: Connection;
  readonly #kept = new Map<string, Statement<object, SQLQueryBindings[]>>();
  #isClosed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  run({ text, values }: Query): object[] {
    if (this.#isClosed) throw new DependencyError("the database is closed");
    if (values.length === 0 && SEVERAL.test(text)) {
      this.#connection.run(text);
      return [];
    }
    try {
      // The values are passed as one array: an object among several arguments would be read as named parameters.
      return this.#prepared(text).all(values as unknown as SQLQueryBindings);
    } finally {
      if (values.some(isLarge)) this.#drop(text);
    }
  }

  /** Rolls the transaction back, unless SQLite has already done so after a failure. */
  rollBack(): void {
    if (!this.#isClosed && this.#connection.inTransaction) this.#connection.run("ROLLBACK");
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const statement of this.#kept.values()) statement.finalize();
    this.#kept.clear();
    this.#connection.close();
  }

  #prepared(text: string): Statement<object, SQLQueryBindings[]> {
    const found = this.#kept.get(text);
    if (found) return found;
    const statement = this.#connection.prepare<object, SQLQueryBindings[]>(text);
    this.#kept.set(text, statement);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MAX_KEPT) this.#drop(oldest);
    return statement;
  }

  #drop(text: string): void {
    this.#kept.get(text)?.finalize();
    this.#kept.delete(text);
  }
}

/**
 * True for a large value. Statements keep their last values in memory, so a statement with a large value is not kept.
 */
function isLarge(value: unknown): boolean {
  return (typeof value === "string" || value instanceof Uint8Array) && value.length > MAX_KEPT_LENGTH;
}

/** Matches a statement that is followed by another statement. */
const SEVERAL = /;\s*\S/;

/** A statement, or a part of one. */
class Query implements PromiseLike<object[]> {
  readonly #run: (query: Query) => object[];
  readonly text: string;
  readonly values: readonly unknown[];

  constructor(run: (query: Query) => object[], text: string, values: readonly unknown[]) {
    this.#run = run;
    this.text = text;
    this.values = values;
  }

  // Runs only when it is awaited, so that a query that is part of another statement does not run by itself.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Done = object[], Failed = never>(
    onDone?: ((rows: object[]) => Done | PromiseLike<Done>) | null,
    onFailed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return Promise.try(this.#run, this).then(onDone, onFailed);
  }
}

/** The result of `sql(object)`: the columns of one or more rows, or the values of a list. */
class Inserted {
  readonly content: object;

  constructor(content: object) {
    this.content = content;
  }
}

function isTemplate(value: object): value is TemplateStringsArray {
  return Array.isArray(value) && "raw" in value;
}

function composed(run: (query: Query) => object[], strings: TemplateStringsArray, parts: unknown[]): Query {
  let text = strings[0] ?? "";
  const values: unknown[] = [];
  for (const [index, part] of parts.entries()) {
    if (part instanceof Query) {
      text += part.text;
      values.push(...part.values);
    } else if (part instanceof Inserted) {
      text += textOf(part.content, text, values);
    } else {
      text += "?";
      values.push(part ?? null);
    }
    text += strings[index + 1] ?? "";
  }
  return new Query(run, text, values);
}

/**
 * Returns the SQL text for an inserted object, chosen by the text `before` it, and appends the object's values to
 * `values`.
 */
function textOf(content: object, before: string, values: unknown[]): string {
  const items: object[] = Array.isArray(content) ? content : [content];
  if (/\bIN\s*$/i.test(before)) {
    values.push(...items);
    return `(${items.map(() => "?").join(",")})`;
  }
  const columns = Object.keys(items[0] ?? {});
  for (const row of items) for (const value of Object.values(row)) values.push(value ?? null);
  if (/\bSET\s*$/i.test(before)) return columns.map((column) => `${column} = ?`).join(",");
  const marks = `(${columns.map(() => "?").join(",")})`;
  return `(${columns.join(",")}) VALUES ${items.map(() => marks).join(",")}`;
}
