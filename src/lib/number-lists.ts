/** Matches a list of numbers and nothing else. */
const LIST = /\[[-+.,\d\seE]+\]/g;
const PLACEHOLDER = /\[(\d+)\]/g;
/** A longer list stays in the text. */
const MAX_LIST_CHARACTERS = 256 * 1024;

/**
 * Takes lists of numbers out of JSON that comes in pieces: `text` has the index of a list in place of its numbers, so
 * that the rest can be parsed and edited although there are millions of them. Lists inside of strings are taken out as
 * well.
 */
export class NumberLists {
  readonly #lists: string[] = [];
  #text = "";
  /** The start of a list whose end has not arrived. */
  #rest = "";

  push(piece: string): void {
    const text = this.#rest + piece;
    const open = text.lastIndexOf("[");
    const isOpen = open >= 0 && !text.includes("]", open) && text.length - open < MAX_LIST_CHARACTERS;
    const end = isOpen ? open : text.length;
    this.#text += text.slice(0, end).replace(LIST, (list) => `[${this.#lists.push(list) - 1}]`);
    this.#rest = text.slice(end);
  }

  /** The text so far, with the index of each list in place of its numbers. */
  get text(): string {
    return this.#text + this.#rest;
  }

  /** Returns such a text with its numbers restored. */
  restore(text: string): string {
    return text.replace(PLACEHOLDER, (placeholder, index) => this.#lists[Number(index)] ?? placeholder);
  }
}
