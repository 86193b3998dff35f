/** A list of numbers and nothing else. */
const LIST = /\[[-+.,\d\seE]+\]/g;
const PLACE = /\[(\d+)\]/g;
/** A longer list stays in the text. */
const MAX_LIST_CHARACTERS = 256 * 1024;

/**
 * JSON that comes in pieces, and whose lists of numbers only pass: in `text` each is a list of one number, its place, so that
 * the rest of it can be parsed and edited although there are millions of numbers. Texts that it contains change likewise.
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

  /** What has come, with places of lists in them. */
  get text(): string {
    return this.#text + this.#rest;
  }

  /** A text with places, with the lists in them again. */
  restore(text: string): string {
    return text.replace(PLACE, (place, index) => this.#lists[Number(index)] ?? place);
  }
}
