import { parseBounded } from "./parse-json.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Detects when a JSON object that comes in pieces is complete. The time is linear in the length of the text. */
export class GrowingObject {
  text = "";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isClosed = false;

  /** Returns true once, for the piece that completes an object or array; never for a text that is not JSON. */
  add(piece: string): boolean {
    this.text += piece;
    if (this.#isClosed) return false;
    for (let at = 0; at < piece.length; at += 1) this.#read(piece.charCodeAt(at));
    return this.#isClosed && isJson(this.text);
  }

  #read(unit: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (unit === QUOTE) this.#isInString = false;
      else if (unit === BACKSLASH) this.#isEscaped = true;
    } else if (unit === QUOTE) this.#isInString = true;
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) this.#depth += 1;
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) this.#isClosed ||= --this.#depth === 0;
  }
}

export function isJson(text: string): boolean {
  try {
    parseBounded(text);
    return true;
  } catch {
    return false;
  }
}
