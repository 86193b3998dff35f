import type { Database } from "bun:sqlite";

/** Tables that are not copied: processes, secrets, configuration and migrations. */
const KEPT = new Set(["configuration", "processes", "shared_secrets", "schema_migrations"]);
/** Part of the definition of a table that can have only one row. */
const SINGLE = "CHECK (id = 1)";
/** Columns that distinguish copies, in order of preference. One column is enough. */
const VARIED = ["id", "entry", "hash", "name", "key_id", "process_id"];

/**
 * Copies the rows of a SQLite database, or of its tables that match `only`, this many times with new ids. Skips the
 * tables of `KEPT` and those with a single row.
 */
export function copyRows(database: Database, times: number, only?: RegExp): void {
  const tables = database
    .query<{ name: string; sql: string }, []>("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    .all()
    .filter(({ name, sql }) => !KEPT.has(name) && !name.startsWith("sqlite_") && !sql.includes(SINGLE))
    .map(({ name }) => name)
    .filter((name) => !only || only.test(name));
  const tag = `c${tables.length}_${times}_`;
  const copy = database.transaction(() => {
    for (const table of tables) {
      const varied = new Set(uniqueKeys(database, table).map(columnOf));
      const columns = columnsOf(database, table);
      const copied = columns.map(({ name, type }) => {
        if (!varied.has(name)) return name;
        return type === "TEXT"
          ? `${name} || '_${tag}' || n`
          : `${name} + n * (SELECT MAX(${name}) FROM original)`;
      });
      database.run(`CREATE TEMP TABLE original AS SELECT * FROM ${table}`);
      database.run(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${times})
        INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")})
        SELECT ${copied.join(", ")} FROM original, numbers`);
      database.run("DROP TABLE original");
    }
    database.run("UPDATE revision SET value = (SELECT MAX(revision) FROM audit)");
  });
  copy.immediate();
}

interface Column {
  name: string;
  type: string;
}

function columnsOf(database: Database, table: string): Column[] {
  return database.query<Column, []>(`SELECT name, type FROM pragma_table_info('${table}')`).all();
}

/** Returns the columns of each unique key. */
function uniqueKeys(database: Database, table: string): Column[][] {
  const columns = new Map(columnsOf(database, table).map((column) => [column.name, column]));
  const keys = database
    .query<{ name: string }, []>(`SELECT name FROM pragma_index_list('${table}') WHERE "unique" = 1`)
    .all();
  return keys.map(({ name }) =>
    database
      .query<{ name: string }, []>(`SELECT name FROM pragma_index_info('${name}')`)
      .all()
      .flatMap((each) => columns.get(each.name) ?? []),
  );
}

function columnOf(key: readonly Column[]): string {
  const names = key.map(({ name }) => name);
  const text = key.find(({ type }) => type === "TEXT")?.name;
  return VARIED.find((name) => names.includes(name)) ?? text ?? names[0] ?? "";
}
