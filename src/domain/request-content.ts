/** Most bytes of a prompt, and of a reply, that are kept. */
const MAX_BYTES = 64 * 1024;

/** What was said in a request, of organizations that have it logged; what is longer than its bound is cut. */
export class RequestContent {
  readonly prompt: string;
  /** For how long it may be kept. */
  readonly days: number;
  readonly #reply: Uint8Array[] = [];
  #length = 0;

  constructor(prompt: string, days: number) {
    this.prompt = prompt.slice(0, MAX_BYTES);
    this.days = days;
  }

  /** Adds a part of the reply, which is copied: its memory may be used again. */
  add(part: Uint8Array | string): void {
    const left = MAX_BYTES - this.#length;
    if (left <= 0 || part.length === 0) return;
    const piece = typeof part === "string" ? Buffer.from(part.slice(0, left)) : part.slice(0, left);
    this.#reply.push(piece);
    this.#length += piece.length;
  }

  /** Empty where none came. */
  get reply(): string {
    return Buffer.concat(this.#reply).toString();
  }
}
