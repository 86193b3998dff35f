import type { JsonSpan } from "../../lib/json.ts";
import type { SizedText } from "../stream-meter.ts";

/**
 * A frame that was parsed once, with slots (variable positions) for its text and padding. A later frame that differs
 * only in its slots has no other new content, so it is forwarded without parsing.
 */
export interface FrameTemplate {
  /** The bytes around the slots: `upstreamParts` in the upstream's frame, `clientParts` in the client's frame. */
  readonly upstreamParts: readonly Uint8Array[];
  readonly clientParts: readonly Uint8Array[];
  readonly upstreamBytes: number;
  /** Length of the client's frame minus length of the upstream's frame, in bytes. */
  readonly growth: number;
}

/** The result of forwarding frames by a template. `output` contains the bytes for the client. */
interface Repetition {
  output: Uint8Array;
  /** Number of bytes of the chunk that these frames cover. */
  readBytes: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const NOTHING = new Uint8Array(0);
const { compare } = Buffer.prototype;

/** Matches the field whose random text hides the length of tokens (OpenAI API reference, `include_obfuscation`). */
const PADDING_NAME = /"obfuscation"\s*:\s*"/g;

/**
 * Returns a template for a frame and its written form. Returns null when the position of the text is not certain. The
 * frame must contain a text, and later code must not depend on any other field of the frame. `textNames` matches fields
 * with text.
 */
export function frameTemplate(frame: Buffer, written: Buffer, textNames: RegExp): FrameTemplate | null {
  const upstreamParts = partsAround(frame, textNames);
  const clientParts = frame === written ? upstreamParts : partsAround(written, textNames);
  if (!upstreamParts || upstreamParts.length !== clientParts?.length) return null;
  const upstreamBytes = lengthOf(upstreamParts);
  return { upstreamParts, clientParts, upstreamBytes, growth: lengthOf(clientParts) - upstreamBytes };
}

/** Forwards the frames at the beginning of a chunk that match the template. Adds their text to `delivered`. */
export function repeatFrames(template: FrameTemplate, chunk: Uint8Array, delivered: SizedText): Repetition {
  const { upstreamParts, clientParts, upstreamBytes, growth } = template;
  const maxFrames = Math.floor(chunk.length / upstreamBytes);
  // Most chunks contain a single frame, for which this is the exact growth.
  const growthBytes = maxFrames === 1 ? growth : Math.max(0, growth) * maxFrames;
  const output = new Uint8Array(chunk.length + growthBytes);
  let readBytes = 0;
  let writtenBytes = 0;
  frames: while (chunk.length - readBytes >= upstreamBytes) {
    let from = readBytes;
    let to = writtenBytes;
    let textFrom = 0;
    let textTo = 0;
    let textUnits = 0;
    for (let index = 0; index < upstreamParts.length; index++) {
      const upstreamPart = upstreamParts[index] ?? NOTHING;
      if (index > 0) {
        const end = endOfPlainText(chunk, from);
        const bytes = end - from;
        let units = bytes;
        while (from < end) {
          const byte = chunk[from++] ?? 0;
          output[to++] = byte;
          if (byte >= 0x80) units -= extraBytes(byte);
        }
        if (index === 1) {
          textFrom = end - bytes;
          textTo = end;
          textUnits = units;
        }
      }
      if (!matchesAt(chunk, from, upstreamPart)) break frames;
      from += upstreamPart.length;
      const clientPart = clientParts[index] ?? NOTHING;
      // An incomplete frame at the end of a chunk may not fit into the output. It waits for its remaining bytes.
      if (to + clientPart.length > output.length) break frames;
      output.set(clientPart, to);
      to += clientPart.length;
    }
    readBytes = from;
    writtenBytes = to;
    delivered.addUtf8(chunk, textFrom, textTo, textUnits);
  }
  const isExact = writtenBytes === output.length;
  return { output: isExact ? output : output.subarray(0, writtenBytes), readBytes };
}

/** Returns the bytes around the slots of a frame. Returns null when the slots are not certain. */
function partsAround(frame: Buffer, textNames: RegExp): Uint8Array[] | null {
  const text = frame.toString("latin1");
  // After a carriage return, only the next byte shows that the frame has ended.
  if (!text.endsWith("\n\n") || text.includes("\r")) return null;
  const content = slotAfter(text, textNames, 0);
  if (!content) return null;
  const padding = slotAfter(text, PADDING_NAME, content.end);
  const parts: Uint8Array[] = [frame.subarray(0, content.start)];
  if (padding) parts.push(frame.subarray(content.end, padding.start));
  parts.push(frame.subarray((padding ?? content).end));
  // The parts are copied, because a view of the frame would keep its whole chunk in memory.
  return parts.map((part) => new Uint8Array(part));
}

/**
 * Returns the position of the only string value after a matching name. Returns null for no match or several matches.
 * Every match is a name, because quotes inside strings are escaped.
 */
function slotAfter(text: string, name: RegExp, from: number): JsonSpan | null {
  name.lastIndex = from;
  if (!name.test(text)) return null;
  const start = name.lastIndex;
  if (name.test(text)) return null;
  let end = start;
  while (end < text.length && text.charCodeAt(end) !== QUOTE)
    end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return { start, end };
}

/**
 * Returns the index of the next quote, escape sequence or control character, at which plain text ends; the length if
 * there is none.
 */
function endOfPlainText(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break;
  }
  return at;
}

/**
 * Returns 1 minus the number of UTF-16 code units that a UTF-8 byte begins. This is 1 for each byte after the first
 * byte of a character, 0 for a first byte, and -1 for the first byte of a surrogate pair.
 */
function extraBytes(byte: number): number {
  if (byte < 0xc0) return 1;
  return byte >= 0xf0 ? -1 : 0;
}

/** Compares bytes by a function of the runtime. A loop takes five times as long, or more before it is compiled. */
function matchesAt(bytes: Uint8Array, from: number, part: Uint8Array): boolean {
  const end = from + part.length;
  return end <= bytes.length && compare.call(bytes, part, 0, part.length, from, end) === 0;
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
