/** Maximum length of a stored prompt, and of a stored reply, in characters. */
const MAX_LENGTH = 64 * 1024;

/** Prompt and reply of a request, for organizations whose prompts are logged. Longer texts are cut. */
export class RequestContent {
  readonly prompt: string;
  /** Days for which the content may be kept. */
  readonly days: number;
  #reply = Buffer.alloc(0);

  /** A cut prompt is copied, so that the long original can be freed. */
  constructor(prompt: string, days: number) {
    this.prompt = prompt.length > MAX_LENGTH ? Buffer.from(prompt.slice(0, MAX_LENGTH)).toString() : prompt;
    this.days = days;
  }

  /** Stores a copy of the reply's beginning, so that the long original can be freed. */
  keepReply(text: string): void {
    this.#reply = Buffer.from(text.slice(0, MAX_LENGTH));
  }

  /** The beginning of the reply; empty when no reply arrived. */
  get reply(): string {
    return this.#reply.toString();
  }
}
