import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import { LEDGER_COLUMNS, type LedgerColumn } from "../../admin/exports/ledger-columns.ts";
import { toEntryView, type EntryView } from "../../admin/ledger/operations.ts";
import type { LedgerEntry } from "../../domain/ledger.ts";

export type LedgerFileFormat = "parquet" | "jsonl";

/** A file of entries, in the order of posting. */
export interface LedgerFile {
  /**
   * Name of the file: epoch and end of the previous file, then epoch and end of this file:
   * `ledger-1763…-1763…-1764…-1764….parquet`.
   */
  name: string;
  /** Media type of the file. */
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The epoch of a file and the number of its last entry; both are 0 before the first file. */
export interface FilePosition {
  epoch: number;
  last: number;
}

export interface BegunFile extends FilePosition {
  format: LedgerFileFormat;
}

/** Makes a file from at least one entry. The same entries always result in the same bytes. */
export function fileOf(
  entries: readonly LedgerEntry[],
  after: FilePosition,
  { epoch, last, format }: BegunFile,
): LedgerFile {
  const name = `ledger-${after.epoch}-${after.last}-${epoch}-${last}.${format}`;
  const views = entries.map(toEntryView);
  if (format === "parquet") return { name, type: "application/vnd.apache.parquet", bytes: parquetOf(views) };
  const lines = views.map((view) => `${JSON.stringify(view)}\n`).join("");
  return { name, type: "application/jsonl", bytes: new TextEncoder().encode(lines) };
}

/** Types of columns. An amount has 38 digits, and nine of them are decimals, so that sums of amounts are exact too. */
const TYPES = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  time: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  count: { type: "INT64" },
  amount: {
    type: "FIXED_LEN_BYTE_ARRAY",
    type_length: 16,
    converted_type: "DECIMAL",
    precision: 38,
    scale: 9,
  },
} as const;

/** Returns a Parquet file with the columns of `ledger export --format csv` and their types. */
function parquetOf(views: readonly EntryView[]): Uint8Array<ArrayBuffer> {
  const columns = LEDGER_COLUMNS.map(([name, , type]) => ({
    name,
    repetition_type: "OPTIONAL" as const,
    ...TYPES[type ?? "text"],
  }));
  const columnData = LEDGER_COLUMNS.map((column): ColumnSource => {
    const [name, cell] = column;
    return { name, data: views.map((view) => valueOf(column, cell(view))) };
  });
  const schema = [{ name: "ledger", num_children: columns.length }, ...columns];
  return new Uint8Array(parquetWriteBuffer({ columnData, schema }));
}

function valueOf([, , type]: LedgerColumn, cell: ReturnType<LedgerColumn[1]>): unknown {
  if (cell === null || cell === undefined) return null;
  if (type === "time") return BigInt(Date.parse(String(cell)));
  if (type === "count") return BigInt(Number(cell));
  return type === "amount" ? nanosOf(String(cell)) : String(cell);
}

/** Reads a decimal that `formatNanos` has written. */
function nanosOf(decimal: string): bigint {
  const [whole = "", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(9, "0"));
}
