import type { Span } from "../../lib/json.ts";

/**
 * A frame that has been read once, with holes where the answer's text stands. A later frame that differs only
 * inside the holes says nothing else new, so it can be passed on without being parsed.
 */
export interface FrameTemplate {
  /** What stands around the holes, as the vendor says it and as the caller should hear it. */
  readonly upstreamParts: readonly Uint8Array[];
  readonly clientParts: readonly Uint8Array[];
  readonly upstreamBytes: number;
  /** How much longer a frame gets; negative when it gets shorter. */
  readonly growth: number;
}

/** Frames that were passed on. */
export interface Repetition {
  output: Uint8Array;
  /** How much of the chunk they were. */
  readBytes: number;
  /** Bytes of answer text in them. */
  textBytes: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** Names under which answer text is streamed. */
const TEXT_NAMES = /"(?:content|reasoning_content|reasoning|refusal)"\s*:\s*"/g;
/** Random words by which OpenAI hides the length of tokens (API reference, `include_obfuscation`). */
const PADDING_NAME = /"obfuscation"\s*:\s*"/g;

/**
 * Makes a template of a frame and of what became of it. Null when it is not certain where its text stands. The
 * caller vouches that the frame holds one choice, some text in it, and nothing that needs to be remembered.
 */
export function frameTemplate(frame: Buffer, written: Buffer): FrameTemplate | null {
  const upstreamParts = partsAround(frame);
  const clientParts = frame === written ? upstreamParts : partsAround(written);
  if (!upstreamParts || upstreamParts.length !== clientParts?.length) return null;
  const upstreamBytes = lengthOf(upstreamParts);
  return { upstreamParts, clientParts, upstreamBytes, growth: lengthOf(clientParts) - upstreamBytes };
}

/** Passes on the frames at the beginning of a chunk that are like the template. */
export function repeatFrames(template: FrameTemplate, chunk: Uint8Array): Repetition {
  const { upstreamParts, clientParts, upstreamBytes, growth } = template;
  const maxFrames = Math.floor(chunk.length / upstreamBytes);
  // Mostly a chunk is one frame, and then this is the exact length.
  const growthBytes = maxFrames === 1 ? growth : Math.max(0, growth) * maxFrames;
  const output = new Uint8Array(chunk.length + growthBytes);
  let readBytes = 0;
  let writtenBytes = 0;
  let textBytes = 0;
  while (chunk.length - readBytes >= upstreamBytes) {
    let from = readBytes;
    let to = writtenBytes;
    let text = 0;
    for (let index = 0; index < upstreamParts.length; index++) {
      const parts = upstreamParts[index] ?? NOTHING;
      if (index > 0) {
        const end = endOfPlainText(chunk, from);
        if (index === 1) text = end - from;
        while (from < end) output[to++] = chunk[from++] ?? 0;
      }
      if (!standsAt(chunk, from, parts)) return finished();
      from += parts.length;
      const clientPart = clientParts[index] ?? NOTHING;
      // A part of a frame may be longer than what it is to become: it is left for its rest to come.
      if (to + clientPart.length > output.length) return finished();
      output.set(clientPart, to);
      to += clientPart.length;
    }
    readBytes = from;
    writtenBytes = to;
    textBytes += text;
  }
  return finished();

  function finished(): Repetition {
    const isExact = writtenBytes === output.length;
    return { output: isExact ? output : output.subarray(0, writtenBytes), readBytes, textBytes };
  }
}

const NOTHING = new Uint8Array(0);

function partsAround(frame: Buffer): Uint8Array[] | null {
  const text = frame.toString("latin1");
  // Where a carriage return ends a line, the end of a frame depends on what comes next.
  if (!text.endsWith("\n\n") || text.includes("\r")) return null;
  const clientPart = slotAfter(text, TEXT_NAMES, 0);
  if (!clientPart) return null;
  const padding = slotAfter(text, PADDING_NAME, clientPart.end);
  const parts: Uint8Array[] = [frame.subarray(0, clientPart.start)];
  if (padding) parts.push(frame.subarray(clientPart.end, padding.start));
  parts.push(frame.subarray((padding ?? clientPart).end));
  // A frame is part of a whole chunk, which is not worth keeping.
  return parts.map((part) => new Uint8Array(part));
}

/** The only string that follows such a name; quotes inside of strings are escaped, so a match is a name. */
function slotAfter(text: string, name: RegExp, from: number): Span | null {
  name.lastIndex = from;
  if (!name.test(text)) return null;
  const start = name.lastIndex;
  if (name.test(text)) return null;
  let end = start;
  while (end < text.length && text.charCodeAt(end) !== QUOTE)
    end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return { start, end };
}

/** Where text ends that stands for itself: at a quote, an escape or a control character. */
function endOfPlainText(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break;
  }
  return at;
}

function standsAt(bytes: Uint8Array, from: number, parts: Uint8Array): boolean {
  if (from + parts.length > bytes.length) return false;
  for (let index = 0; index < parts.length; index++) if (bytes[from + index] !== parts[index]) return false;
  return true;
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
