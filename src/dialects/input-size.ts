import type { TextRequest } from "./dialect.ts";

/** Upper bound of the tokens of one image, and the tokens of most images. */
const MAX_IMAGE_TOKENS = 12_288;
const DEFAULT_IMAGE_TOKENS = 1_536;
/** Base64 of audio and documents has about one token for this many characters. */
const MEDIA_CHARACTERS_PER_TOKEN = 64;

/**
 * The most that a character of a document can stand for: a page may be a hundred characters of a file, and counts as
 * its text and as a picture, up to 3,000 tokens (Anthropic PDF support).
 */
const MAX_TOKENS_PER_CHARACTER = 32;

/** The largest prompt of current models. */
const MAX_LINKED_TOKENS = 1_048_576;

/** Both sizes of a prompt, from the bytes of its body and their UTF-16 code units, less the media among them. */
export class InputSize {
  #ceiling: number;
  #eighths: number;
  #mediaEighths = 0;

  constructor(bytes: number, units: number) {
    this.#ceiling = bytes;
    this.#eighths = eighthsOf(bytes, units);
  }

  /** Counts an image; `inline` is the text in the body that holds its data, null where that is a link. */
  addImage(inline: string | null): void {
    if (inline !== null) {
      this.#ceiling -= inline.length;
      this.#eighths -= eighthsOf(inline.length, inline.length);
    }
    this.#ceiling += MAX_IMAGE_TOKENS;
    this.#addEighths(8 * DEFAULT_IMAGE_TOKENS);
  }

  /** Counts audio, a video or a document whose base64 is in the body. */
  addMedia({ length }: string): void {
    this.#ceiling += Math.min(length * (MAX_TOKENS_PER_CHARACTER - 1), MAX_LINKED_TOKENS);
    this.#eighths -= eighthsOf(length, length);
    this.#addEighths((8 * length) / MEDIA_CHARACTERS_PER_TOKEN);
  }

  /** Counts a document or recording behind a link, of any length. */
  addLinkedMedia(): void {
    this.#ceiling += MAX_LINKED_TOKENS;
    this.#addEighths(8 * DEFAULT_IMAGE_TOKENS);
  }

  /** Returns the fields of a `TextRequest` that state its size. */
  get tokens(): Pick<TextRequest, "inputCeiling" | "estimatedInput" | "mediaTokens"> {
    return {
      inputCeiling: Math.max(this.#ceiling, 1),
      estimatedInput: Math.max(wholeTokens(this.#eighths), 1),
      mediaTokens: wholeTokens(this.#mediaEighths),
    };
  }

  #addEighths(eighths: number): void {
    this.#eighths += eighths;
    this.#mediaEighths += eighths;
  }
}

/**
 * A rule of thumb for tokens: for limits, and while a response runs. A reply without a vendor's report is counted at
 * its end (`gateway/metering/usage-policy`). It does not depend on how the text was cut. Eighths of a token make
 * pieces add up exactly: 2 for an ASCII character (four to a token, as OpenAI's documentation says), 5 for other
 * letters of two bytes, 8 for a CJK character, 10 for an emoji.
 */
export function tokenEighths(text: string): number {
  return eighthsOf(Buffer.byteLength(text), text.length);
}

/** The same from the size of a text: its bytes in UTF-8 and its UTF-16 code units. */
export function eighthsOf(bytes: number, units: number): number {
  return 3 * bytes - units;
}

/** Whole tokens, at least one for any text. */
export function wholeTokens(eighths: number): number {
  return Math.ceil(eighths / 8);
}
