import type { LedgerEntry } from "../domain/ledger.ts";
import type { JournalRecord } from "../gateway/ports.ts";

/**
 * One journal record as one line: the CRC-32 of its JSON as eight hexadecimal digits, a space, the JSON, a line
 * feed. Money stands as decimal strings.
 */
export interface LineWriter {
  /** The line's bytes; valid until the next call, for they are written into the same memory again. */
  write(record: JournalRecord): Uint8Array<ArrayBuffer>;
}

const PREFIX_BYTES = 9;
const LINE_FEED = 10;
const SCRATCH_BYTES = 64 * 1024;
/** A UTF-16 unit takes at most three bytes in UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

export function lineWriter(): LineWriter {
  const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  return {
    write(record) {
      const json = jsonOf(record);
      const mostBytes = PREFIX_BYTES + json.length * MOST_BYTES_PER_UNIT + 1;
      const buffer = mostBytes <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafeSlow(mostBytes);
      const end = PREFIX_BYTES + buffer.write(json, PREFIX_BYTES);
      const checksum = Bun.hash.crc32(buffer.subarray(PREFIX_BYTES, end));
      buffer.write(`${checksum.toString(16).padStart(PREFIX_BYTES - 1, "0")} `, 0, "latin1");
      buffer[end] = LINE_FEED;
      return buffer.subarray(0, end + 1);
    },
  };
}

/** Field by field, because a copy made by hand is written out several times as fast as one made by a loop. */
function jsonOf({ type, entry }: JournalRecord): string {
  const written: Record<keyof LedgerEntry, unknown> = {
    id: entry.id,
    kind: entry.kind,
    requestId: entry.requestId,
    organizationId: entry.organizationId,
    keyId: entry.keyId,
    model: entry.model,
    channel: entry.channel,
    upstreamModel: entry.upstreamModel,
    at: entry.at,
    usage: entry.usage,
    amount: entry.amount.toString(),
    currency: entry.currency,
    priceSource: entry.priceSource,
    orphanCost: entry.orphanCost.toString(),
    budgets: entry.budgets,
    attempts: entry.attempts,
    flags: entry.flags,
    corrects: entry.corrects,
  };
  return JSON.stringify({ type, entry: written });
}

/** Reads a line without its line feed; null when it is torn or damaged. */
export function readLine(line: Uint8Array<ArrayBuffer>): JournalRecord | null {
  if (line.length <= PREFIX_BYTES) return null;
  const prefix = TEXT.decode(line.subarray(0, PREFIX_BYTES - 1));
  const json = line.subarray(PREFIX_BYTES);
  if (!/^[0-9a-f]{8}$/.test(prefix) || Number.parseInt(prefix, 16) !== Bun.hash.crc32(json)) return null;
  // The checksum has vouched that these are the words of `write`.
  const { type, entry } = JSON.parse(TEXT.decode(json));
  return { type, entry: { ...entry, amount: BigInt(entry.amount), orphanCost: BigInt(entry.orphanCost) } };
}

const TEXT = new TextDecoder();
