import { type LedgerEntry, readEntry, writeEntry } from "../../domain/ledger.ts";
import type { JournalRecord } from "../../gateway/metering/stores.ts";

/** Hexadecimal digits of the checksum, and a space. */
const PREFIX_BYTES = 9;
/** The most bytes that one UTF-16 code unit takes in UTF-8. */
const MAX_BYTES_A_UNIT = 3;
const FIRST_BYTES = 1024;
const LINE_FEED = 10;

/**
 * Journal records as lines, one behind the other in memory that grows with them: the CRC-32 of a record's JSON as
 * eight hexadecimal digits, a space, the JSON, a line feed. Amounts are decimal strings.
 */
export class RecordLines {
  #memory = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  #count = 0;

  /** The number of lines. */
  get count(): number {
    return this.#count;
  }

  /** All of them: a view, until one is added. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.#memory.subarray(0, this.#length);
  }

  /** Adds a record and returns its line: a view, until the next one is added. */
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

  /** Adds the line of a record. */
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

/** Reads a line without its line feed; null when it is torn or damaged. */
export function readLine(line: Uint8Array<ArrayBuffer>): JournalRecord | null {
  if (line.length <= PREFIX_BYTES) return null;
  const prefix = TEXT.decode(line.subarray(0, PREFIX_BYTES));
  const json = line.subarray(PREFIX_BYTES);
  if (!/^[0-9a-f]{8} $/.test(prefix) || Number.parseInt(prefix, 16) !== Bun.hash.crc32(json)) return null;
  // The checksum proves that `RecordLines` made this.
  return parseRecord(TEXT.decode(json));
}

/** The entries of lines that this process has written just now. */
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

/** Charges that are posted together, as their lines: the garbage collector has nothing to do with bytes. */
export class Batch extends RecordLines {
  /** The number of charges by segment. */
  readonly segments = new Map<number, number>();

  countIn(segment: number): void {
    this.segments.set(segment, (this.segments.get(segment) ?? 0) + 1);
  }
}
