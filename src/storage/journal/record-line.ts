import { type LedgerEntry, readEntry, writeEntry } from "../../domain/ledger.ts";
import type { JournalRecord } from "../../gateway/metering/stores.ts";

/** Length of the checksum's hexadecimal digits and a space. */
const PREFIX_BYTES = 9;
/** Maximum number of bytes of one UTF-16 code unit in UTF-8. */
const MAX_BYTES_A_UNIT = 3;
const FIRST_BYTES = 1024;
const LINE_FEED = 10;

/**
 * Journal records as consecutive lines in a growing buffer. A line is the CRC-32 of the record's JSON as
 * eight hexadecimal digits, a space, the JSON, and a line feed. Amounts are decimal strings.
 */
export class RecordLines {
  #memory = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** A view of all lines, valid until a line is added. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.#memory.subarray(0, this.#length);
  }

  /** Adds a record and returns its line as a view, valid until the next line is added. */
  write({ type, entry }: JournalRecord): Buffer<ArrayBuffer> {
    const json = JSON.stringify({ type, entry: writeEntry(entry) });
    this.#reserve(PREFIX_BYTES + json.length * MAX_BYTES_A_UNIT + 1);
    const start = this.#length;
    const jsonStart = start + PREFIX_BYTES;
    const end = jsonStart + this.#memory.write(json, jsonStart);
    const checksum = Bun.hash.crc32(this.#memory.subarray(jsonStart, end));
    this.#memory.write(`${checksum.toString(16).padStart(PREFIX_BYTES - 1, "0")} `, start, "latin1");
    this.#memory[end] = LINE_FEED;
    this.#length = end + 1;
    this.#count += 1;
    return this.#memory.subarray(start, this.#length);
  }

  /** Adds a line that another `RecordLines` has written. */
  add(line: Uint8Array): void {
    this.#reserve(line.length);
    this.#memory.set(line, this.#length);
    this.#length += line.length;
    this.#count += 1;
  }

  clear(): void {
    this.#length = 0;
    this.#count = 0;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#memory.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length));
    this.#memory.copy(grown, 0, 0, this.#length);
    this.#memory = grown;
  }
}

/** Reads a line without its line feed. Returns null when the line is incomplete or damaged. */
export function readLine(line: Uint8Array<ArrayBuffer>): JournalRecord | null {
  if (line.length <= PREFIX_BYTES) return null;
  const prefix = TEXT.decode(line.subarray(0, PREFIX_BYTES));
  const json = line.subarray(PREFIX_BYTES);
  if (!/^[0-9a-f]{8} $/.test(prefix) || Number.parseInt(prefix, 16) !== Bun.hash.crc32(json)) return null;
  // The checksum proves that `RecordLines` has written this line.
  return parseRecord(TEXT.decode(json));
}

/** Reads the entries of lines that this process itself has just written. */
export function readEntries(lines: Uint8Array): LedgerEntry[] {
  return TEXT.decode(lines)
    .trimEnd()
    .split("\n")
    .map((line) => parseRecord(line.slice(PREFIX_BYTES)).entry);
}

function parseRecord(json: string): JournalRecord {
  const { type, entry } = JSON.parse(json);
  return { type, entry: readEntry(entry) };
}

const TEXT = new TextDecoder();

/**
 * Charges that are posted together. They are lines of bytes, because objects would be work for the garbage collector.
 */
export class Batch extends RecordLines {
  /** Number of charges of each segment. */
  readonly segments = new Map<number, number>();

  countIn(segment: number): void {
    this.segments.set(segment, (this.segments.get(segment) ?? 0) + 1);
  }
}
