import type { TextRequest } from "./dialect.ts";

/** Upper bound of the tokens of one image. `DEFAULT_IMAGE_TOKENS` is the estimate for one image. */
const MAX_IMAGE_TOKENS = 12_288;
const DEFAULT_IMAGE_TOKENS = 1_536;
/** Number of base64 characters per token of audio, video and documents. */
const MEDIA_CHARACTERS_PER_TOKEN = 64;

/**
 * Maximum number of tokens per character of a document. A page may have only a hundred characters in the file, but up
 * to 3,000 tokens, because vendors read each page as text and as a picture (Anthropic PDF support).
 */
const MAX_TOKENS_PER_CHARACTER = 32;

/** Maximum number of tokens of one piece of media: the largest prompt of current models. */
const MAX_LINKED_TOKENS = 1_048_576;

/**
 * The size of a prompt, as an estimate and as an upper bound. Text is measured by the bytes and UTF-16 code units of
 * the body. Media in the body are measured separately.
 */
export class InputSize {
  #ceiling: number;
  #eighths: number;
  #mediaEighths = 0;

  constructor(bytes: number, units: number) {
    this.#ceiling = bytes;
    this.#eighths = eighthsOf(bytes, units);
  }

  /** Adds an image. `inline` is the image's data in the body; null when the image is a link. */
  addImage(inline: string | null): void {
    if (inline !== null) {
      this.#ceiling -= inline.length;
      this.#eighths -= eighthsOf(inline.length, inline.length);
    }
    this.#ceiling += MAX_IMAGE_TOKENS;
    this.#addEighths(8 * DEFAULT_IMAGE_TOKENS);
  }

  /** Adds audio, a video or a document that is in the body as base64. */
  addMedia({ length }: string): void {
    this.#ceiling += Math.min(length * (MAX_TOKENS_PER_CHARACTER - 1), MAX_LINKED_TOKENS);
    this.#eighths -= eighthsOf(length, length);
    this.#addEighths((8 * length) / MEDIA_CHARACTERS_PER_TOKEN);
  }

  /** Adds a linked document or recording of unknown length. */
  addLinkedMedia(): void {
    this.#ceiling += MAX_LINKED_TOKENS;
    this.#addEighths(8 * DEFAULT_IMAGE_TOKENS);
  }

  /** Returns the size as fields of `TextRequest`. */
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
 * Estimates the size of a text in eighths of a token. An ASCII character has 2 (four characters per token, as OpenAI's
 * documentation says), another letter of two bytes 5, a CJK character 8 and an emoji 10. The sizes of pieces add up
 * exactly. The estimate is for limits and running replies; when a vendor reports no usage, a tokenizer counts the ended
 * reply (`gateway/metering/usage-policy`).
 */
export function tokenEighths(text: string): number {
  return eighthsOf(Buffer.byteLength(text), text.length);
}

/**
 * Returns the same estimate as `tokenEighths`, from the text's number of UTF-8 bytes and number of UTF-16 code units.
 */
export function eighthsOf(bytes: number, units: number): number {
  return 3 * bytes - units;
}

export function wholeTokens(eighths: number): number {
  return Math.ceil(eighths / 8);
}
