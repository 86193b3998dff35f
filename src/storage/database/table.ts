import { toBit, toColumn } from "./expressions.ts";

/** A value as a column holds it. */
type Stored = string | number | bigint | null;

/** A row of a table as the databases' clients read and take it. */
export type Row = Record<string, Stored>;

/** The conversion between one field of a record and one column. */
export interface Column<Value> {
  /** The field's name in snake case unless given. */
  readonly name?: string;
  /** Null in the column is an absent field. */
  readonly isOptional?: boolean;
  readonly read: (stored: Stored) => Value;
  readonly write: (value: Value) => Stored;
}

type AnyColumn = Omit<Column<unknown>, "write"> & { readonly write: (value: never) => Stored };

/** A column for each field of a record: a field without one, or with one of another type, does not compile. */
export type Columns<Fields> = { readonly [Field in keyof Fields]-?: Column<Fields[Field]> };

/** A table whose columns are declared once: its rows are read into records, and records written as rows, by it. */
export interface Table<Fields> {
  readonly name: string;
  /** The list of its columns, for SELECT and RETURNING. */
  readonly columns: string;
  /** Ignores other columns of the row. */
  readonly read: (row: Row) => Fields;
  /** Reads the first of some rows; null where there is none. */
  readonly first: (rows: readonly Row[]) => Fields | null;
  /** Ignores other fields of the record. */
  readonly write: (record: Fields) => Row;
}

/**
 * Declares a table. `read` and `write` are compiled, since each posted charge and each loaded key is a row: a loop over
 * the columns takes twice as long as they do, and they take as long as code written by hand.
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

/** The conversion of a value that is the same in a record and in a row; it is left out of the compiled functions. */
function same<Value>(value: Value): Value {
  return value;
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A text, or one of a closed set that only this program writes. */
export function text<Value extends string>(): Column<Value> {
  return { read: same as Column<Value>["read"], write: same };
}

/** A whole number that needs no more than 53 bits. */
export function integer(): Column<number> {
  return { read: Number, write: same };
}

/** Unix milliseconds. */
export const time = integer;

/** A whole number of 64 bits. */
export function bigInteger(): Column<bigint> {
  return {
    read: (stored) => (typeof stored === "bigint" ? stored : BigInt(stored ?? 0)),
    write: same,
  };
}

/** Nano-units of a currency. */
export const money = bigInteger;

/** A boolean; 0 and 1 in both databases. */
export function bit(): Column<boolean> {
  return { read: (stored) => Number(stored) === 1, write: toBit };
}

/**
 * JSON, whose shape is trusted because only this program writes it; `revive` makes a value of what JSON gives back.
 * Amounts of money do not fit in it.
 */
export function json<Value, Written = Value>(revive?: (written: Written) => Value): Column<Value> {
  const read = (stored: Stored) => JSON.parse(String(stored));
  return { read: revive ? (stored) => revive(read(stored)) : read, write: (value) => JSON.stringify(value) };
}

/** The same where amounts of money are within: as decimal strings. Takes five times as long to write. */
export function moneyJson<Value, Written = Value>(revive?: (written: Written) => Value): Column<Value> {
  return { ...json(revive), write: toColumn };
}

/** A column that may hold null. */
export function nullable<Value>({ read, write, ...rest }: Column<Value>): Column<Value | null> {
  return {
    ...rest,
    read: (stored) => (stored === null ? null : read(stored)),
    write: (value) => (value === null ? null : write(value)),
  };
}

/** A column of texts in which an empty one stands for none, where a key or an index takes no null. */
export function emptyAsNull(): Column<string | null> {
  return {
    read: (stored) => (stored === "" || stored === null ? null : String(stored)),
    write: (value) => value ?? "",
  };
}

/** A column in which null is an absent field. */
export function optional<Value>({ write, ...rest }: Column<Value>): Column<Value | undefined> {
  return { ...rest, isOptional: true, write: (value) => (value === undefined ? null : write(value)) };
}

/** A column with a name of its own. */
export function named<Value>(name: string, column: Column<Value>): Column<Value> {
  return { ...column, name };
}
