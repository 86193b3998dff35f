import type { TextRequest } from "./dialect.ts";

/** Upper bound of the tokens of one image, and the number of tokens of most images. */
const MAX_IMAGE_TOKENS = 12_288;
const DEFAULT_IMAGE_TOKENS = 1_536;
/** Number of base64 characters for one token of audio and documents. */
const MEDIA_CHARACTERS_PER_TOKEN = 64;

/**
 * Maximum number of tokens for one character of a document: a page may take only a hundred characters of the file, but
 * counts up to 3,000 tokens as text and as a picture (Anthropic PDF support).
 */
const MAX_TOKENS_PER_CHARACTER = 32;

/** Number of tokens for linked media: the largest prompt of current models. */
const MAX_LINKED_TOKENS = 1_048_576;

/**
 * The size of a prompt, estimated and as an upper bound. It is computed from the bytes and UTF-16 code units of the
 * body without those of the media in it.
 */
export class InputSize {
  #ceiling: number;
  #eighths: number;
  #mediaEighths = 0;

  constructor(bytes: number, units: number) {
    this.#ceiling = bytes;
    this.#eighths = eighthsOf(bytes, units);
  }

  /** Adds an image. `inline` is the text in the body that contains its data; null when the image is a link. */
  addImage(inline: string | null): void {
    if (inline !== null) {
      this.#ceiling -= inline.length;
      this.#eighths -= eighthsOf(inline.length, inline.length);
    }
    this.#ceiling += MAX_IMAGE_TOKENS;
    this.#addEighths(8 * DEFAULT_IMAGE_TOKENS);
  }

  /** Adds audio, a video or a document whose base64 is in the body. */
  addMedia({ length }: string): void {
    this.#ceiling += Math.min(length * (MAX_TOKENS_PER_CHARACTER - 1), MAX_LINKED_TOKENS);
    this.#eighths -= eighthsOf(length, length);
    this.#addEighths((8 * length) / MEDIA_CHARACTERS_PER_TOKEN);
  }

  /** Adds a document or recording behind a link, whose length is unknown. */
  addLinkedMedia(): void {
    this.#ceiling += MAX_LINKED_TOKENS;
    this.#addEighths(8 * DEFAULT_IMAGE_TOKENS);
  }

  /** Returns the fields of a `TextRequest` that contain its size. */
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
 * Returns the estimated size of a text in eighths of a token. It is used for limits and while a response runs; at the
 * end, a reply without a vendor's report is counted by a tokenizer (`gateway/metering/usage-policy`). Eighths make the
 * sizes of pieces add up exactly, so it does not matter how the text is divided: 2 for an ASCII character (four to a
 * token, as OpenAI's documentation says), 5 for other letters of two bytes, 8 for a CJK character, 10 for an emoji.
 */
export function tokenEighths(text: string): number {
  return eighthsOf(Buffer.byteLength(text), text.length);
}

/** Returns the estimate from the size of a text: its UTF-8 bytes and its UTF-16 code units. */
export function eighthsOf(bytes: number, units: number): number {
  return 3 * bytes - units;
}

/** Returns whole tokens, at least one for any text. */
export function wholeTokens(eighths: number): number {
  return Math.ceil(eighths / 8);
}
