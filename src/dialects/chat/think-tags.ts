/** A piece of text, and whether it is reasoning. */
interface Piece {
  type: "text" | "reasoning";
  text: string;
}

const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Takes reasoning out of text where a server leaves it there, between tags at the very start (MiniMax without
 * `reasoning_split`, servers of open models without a reasoning parser). The tags may be cut anywhere.
 */
export class ThinkTags {
  #state: "start" | "thinking" | "answer" = "start";
  /** White space at the very start, which is looked at once. */
  #space = "";
  /** What may be the start of a tag. */
  #held = "";

  *read(text: string): Generator<Piece> {
    if (this.#state === "start") this.#begin(text);
    else this.#held += text;
    if (this.#state === "thinking") yield* this.#think();
    if (this.#state === "answer") yield* this.#take("text", this.#held.length);
  }

  /** The text has ended. */
  *end(): Generator<Piece> {
    this.#held = this.#space + this.#held;
    this.#space = "";
    yield* this.#take(this.#state === "thinking" ? "reasoning" : "text", this.#held.length);
  }

  #begin(text: string): void {
    const begun = this.#held + (this.#held === "" ? text.trimStart() : text);
    if (this.#held === "") this.#space += text.slice(0, text.length - begun.length);
    this.#held = begun;
    if (begun.startsWith(OPEN)) {
      this.#state = "thinking";
      this.#held = begun.slice(OPEN.length).trimStart();
      this.#space = "";
    } else if (!OPEN.startsWith(begun)) {
      this.#state = "answer";
      this.#held = this.#space + begun;
      this.#space = "";
    }
  }

  *#think(): Generator<Piece> {
    const close = this.#held.indexOf(CLOSE);
    if (close < 0) {
      yield* this.#take("reasoning", this.#held.length - tagStartLength(this.#held));
      return;
    }
    yield* this.#take("reasoning", close);
    this.#held = this.#held.slice(CLOSE.length).trimStart();
    this.#state = "answer";
  }

  *#take(type: Piece["type"], length: number): Generator<Piece> {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (text !== "") yield { type, text };
  }
}

/** How many characters at the end may be the start of the closing tag. */
function tagStartLength(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
