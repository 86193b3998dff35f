import { toBit, toColumn } from "./expressions.ts";

/** A value as it is stored in a column. */
type Stored = string | number | bigint | null;

/** A row of a table as the database clients read and accept it. */
export type Row = Record<string, Stored>;

/** The conversion between one field of a record and one column. */
export interface Column<Value> {
  /** Name of the column; by default the field's name in snake case. */
  readonly name?: string;
  /** True when null in the column means that the field is absent. */
  readonly isOptional?: boolean;
  readonly read: (stored: Stored) => Value;
  readonly write: (value: Value) => Stored;
}

type AnyColumn = Omit<Column<unknown>, "write"> & { readonly write: (value: never) => Stored };

/** One column for each field of a record. A missing column, or one of another type, is a type error. */
export type Columns<Fields> = { readonly [Field in keyof Fields]-?: Column<Fields[Field]> };

/** A table whose columns are declared once. The functions that read and write rows are made from the declaration. */
export interface Table<Fields> {
  readonly name: string;
  /** The list of the table's columns, for SELECT and RETURNING. */
  readonly columns: string;
  /** Reads a row. Ignores columns that are not declared. */
  readonly read: (row: Row) => Fields;
  /** Reads the first row; null when there is no row. */
  readonly first: (rows: readonly Row[]) => Fields | null;
  /** Writes a record. Ignores fields that are not declared. */
  readonly write: (record: Fields) => Row;
}

/**
 * Declares a table. `read` and `write` are compiled, because they run for each posted charge and each loaded key. They
 * are as fast as code written by hand and twice as fast as a loop over the columns.
 */
export function table<Fields extends object>(name: string, columns: Columns<Fields>): Table<Fields> {
  const all = Object.entries<AnyColumn>(columns).map(([field, column], index) => ({
    field,
    column,
    name: column.name ?? snakeCase(field),
    read: column.read === same ? "" : `read${index}`,
    write: column.write === same ? "" : `write${index}`,
  }));
  const required = all.filter(({ column }) => !column.isOptional);
  const optional = all.filter(({ column }) => column.isOptional);
  const compiled = <Made>(text: string): Made =>
    new Function(...all.flatMap((_, index) => [`read${index}`, `write${index}`]), `return ${text};`)(
      ...all.flatMap(({ column }) => [column.read, column.write]),
    );
  const read = compiled<Table<Fields>["read"]>(`row => {
    const record = { ${required.map(({ field, name, read }) => `${field}: ${read}(row.${name})`).join(", ")} };
    ${optional.map(({ field, name, read }) => `if (row.${name} !== null) record.${field} = ${read}(row.${name});`).join(" ")}
    return record;
  }`);
  const write = compiled<Table<Fields>["write"]>(
    `record => ({ ${all.map(({ field, name, write }) => `${name}: ${write}(record.${field})`).join(", ")} })`,
  );
  const names = all.map(({ name }) => name).join(", ");
  return { name, columns: names, read, first: ([row]) => (row ? read(row) : null), write };
}

/** Converts a value that is the same in a record and in a row. The compiled functions leave this call out. */
function same<Value>(value: Value): Value {
  return value;
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A column of texts, or of a closed set of texts that only this program writes. */
export function text<Value extends string>(): Column<Value> {
  return { read: same as Column<Value>["read"], write: same };
}

/** A column of whole numbers of at most 53 bits. */
export function integer(): Column<number> {
  return { read: Number, write: same };
}

/** A column of times in Unix milliseconds. */
export const time = integer;

/** A column of whole numbers of 64 bits. */
export function bigInteger(): Column<bigint> {
  return {
    read: (stored) => (typeof stored === "bigint" ? stored : BigInt(stored ?? 0)),
    write: same,
  };
}

/** A column of amounts in nano-units of a currency. */
export const money = bigInteger;

/** A column of booleans, which both databases store as 0 and 1. */
export function bit(): Column<boolean> {
  return { read: (stored) => Number(stored) === 1, write: toBit };
}

/**
 * A column of JSON. Its shape is trusted, because only this program writes it. `revive` converts the parsed JSON into
 * the value. Use `moneyJson` for values that contain amounts of money.
 */
export function json<Value, Written = Value>(revive?: (written: Written) => Value): Column<Value> {
  const read = (stored: Stored) => JSON.parse(String(stored));
  return { read: revive ? (stored) => revive(read(stored)) : read, write: (value) => JSON.stringify(value) };
}

/** A column of JSON in which amounts of money are decimal strings. Writes five times more slowly than `json`. */
export function moneyJson<Value, Written = Value>(revive?: (written: Written) => Value): Column<Value> {
  return { ...json(revive), write: toColumn };
}

/** A column that may also contain null. */
export function nullable<Value>({ read, write, ...rest }: Column<Value>): Column<Value | null> {
  return {
    ...rest,
    read: (stored) => (stored === null ? null : read(stored)),
    write: (value) => (value === null ? null : write(value)),
  };
}

/** A column of texts in which an empty text means null, for keys and indexes that accept no null. */
export function emptyAsNull(): Column<string | null> {
  return {
    read: (stored) => (stored === "" || stored === null ? null : String(stored)),
    write: (value) => value ?? "",
  };
}

/** A column in which null means that the field is absent. */
export function optional<Value>({ write, ...rest }: Column<Value>): Column<Value | undefined> {
  return { ...rest, isOptional: true, write: (value) => (value === undefined ? null : write(value)) };
}

/** A column with a name that differs from its field's. */
export function named<Value>(name: string, column: Column<Value>): Column<Value> {
  return { ...column, name };
}
