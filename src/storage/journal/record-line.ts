import type { LedgerEntry } from "../../domain/ledger.ts";
import type { JournalRecord } from "../../gateway/ports.ts";
import { readEntry, writeEntry } from "../written-entry.ts";

/** Hexadecimal digits of the checksum, and a space. */
const PREFIX_BYTES = 9;

/**
 * One journal record as one line: the CRC-32 of its JSON as eight hexadecimal digits, a space, the JSON, a line
 * feed. Amounts are decimal strings.
 */
export function writeLine({ type, entry }: JournalRecord): string {
  const json = JSON.stringify({ type, entry: writeEntry(entry) });
  const checksum = Bun.hash
    .crc32(json)
    .toString(16)
    .padStart(PREFIX_BYTES - 1, "0");
  return `${checksum} ${json}\n`;
}

/** Reads a line without its line feed; null when it is torn or damaged. */
export function readLine(line: Uint8Array<ArrayBuffer>): JournalRecord | null {
  if (line.length <= PREFIX_BYTES) return null;
  const prefix = TEXT.decode(line.subarray(0, PREFIX_BYTES));
  const json = line.subarray(PREFIX_BYTES);
  if (!/^[0-9a-f]{8} $/.test(prefix) || Number.parseInt(prefix, 16) !== Bun.hash.crc32(json)) return null;
  // The checksum proves that `writeLine` made this.
  return parseRecord(TEXT.decode(json));
}

/** The entries of lines that this process has written just now. */
export function readEntries(lines: string): LedgerEntry[] {
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => parseRecord(line.slice(PREFIX_BYTES)).entry);
}

function parseRecord(json: string): JournalRecord {
  const { type, entry } = JSON.parse(json);
  return { type, entry: readEntry(entry) };
}

const TEXT = new TextDecoder();
