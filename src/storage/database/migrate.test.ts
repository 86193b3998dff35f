import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { MIGRATIONS } from "./migrate.ts";

interface Column {
  name: string;
  type: string;
  notnull: number;
  dflt_value: string | null;
}

function columnsOf(database: Database): Map<string, Column> {
  const tables = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all();
  return new Map(
    tables.flatMap(({ name: table }) =>
      database
        .query<Column, []>(`PRAGMA table_info(${table})`)
        .all()
        .map((column): [string, Column] => [`${table}.${column.name}`, column]),
    ),
  );
}

test.each(MIGRATIONS.map(({ name, text }, index) => ({ name, text, index })))(
  "$name leaves the version before able to read and write",
  ({ text, index }) => {
    using database = new Database(":memory:");
    for (const before of MIGRATIONS.slice(0, index)) database.run(before.text);
    const before = columnsOf(database);
    const tables = new Set([...before.keys()].map((column) => column.split(".")[0]));
    database.run(text);
    const after = columnsOf(database);
    for (const [name, column] of before) expect(after.get(name), name).toEqual(column);
    const required = [...after].filter(
      ([name, { notnull, dflt_value: value }]) =>
        !before.has(name) && tables.has(name.split(".")[0]) && notnull === 1 && value === null,
    );
    expect(required.map(([name]) => name)).toEqual([]);
  },
);
