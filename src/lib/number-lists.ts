/** A list of numbers and nothing else. */
const LIST = /\[[-+.,\d\seE]+\]/g;
const PLACEHOLDER = /\[(\d+)\]/g;
/** A longer list stays in the text. */
const MAX_LIST_CHARACTERS = 256 * 1024;

/**
 * JSON that comes in pieces, and whose lists of numbers only pass: `text` has the index of a list in place of its numbers, so
 * that the rest can be parsed and edited although there are millions of them. The same happens to lists inside of strings.
 */
export class NumberLists {
  readonly #lists: string[] = [];
  #text = "";
  /** The start of a list whose end has not come. */
  #rest = "";

  push(piece: string): void {
    const text = this.#rest + piece;
    const open = text.lastIndexOf("[");
    const isOpen = open >= 0 && !text.includes("]", open) && text.length - open < MAX_LIST_CHARACTERS;
    const end = isOpen ? open : text.length;
    this.#text += text.slice(0, end).replace(LIST, (list) => `[${this.#lists.push(list) - 1}]`);
    this.#rest = text.slice(end);
  }

  /** What has come, with the index of each list in place of its numbers. */
  get text(): string {
    return this.#text + this.#rest;
  }

  /** Such a text with its numbers again. */
  restore(text: string): string {
    return text.replace(PLACEHOLDER, (placeholder, index) => this.#lists[Number(index)] ?? placeholder);
  }
}
