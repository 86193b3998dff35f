/** Most bytes of a prompt, and of a reply, that are kept. */
const MAX_BYTES = 64 * 1024;

/** Prompt and reply of a request, for organizations that have them logged. Longer ones are cut. */
export class RequestContent {
  readonly prompt: string;
  /** Days for which the content may be kept. */
  readonly days: number;
  #reply = Buffer.alloc(0);

  /** Keeps a cut prompt as a copy of its own, like a reply. */
  constructor(prompt: string, days: number) {
    this.prompt = prompt.length > MAX_BYTES ? Buffer.from(prompt.slice(0, MAX_BYTES)).toString() : prompt;
    this.days = days;
  }

  /** Keeps the reply, as a copy of its own: the rest of the text may be large. */
  keepReply(text: string): void {
    this.#reply = Buffer.from(text.slice(0, MAX_BYTES));
  }

  /** Empty where none came. */
  get reply(): string {
    return this.#reply.toString();
  }
}
