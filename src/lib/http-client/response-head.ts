/** The status and fields of a response. */
export class ResponseHead {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    this.status = Number(text.slice(9, 12));
    this.headers = new HeaderFields(text);
  }

  /** True when the other side keeps the connection open (RFC 9112, 9.3). */
  get isPersistent(): boolean {
    const options = this.headers.get("connection")?.toLowerCase();
    if (options?.includes("close")) return false;
    return this.#text.startsWith("HTTP/1.1") || (options?.includes("keep-alive") ?? false);
  }
}

/** Header fields as they arrived. They are searched on request: a call reads few of them. */
export class HeaderFields {
  readonly #text: string;
  readonly #lower: string;

  constructor(head: string) {
    this.#text = head;
    this.#lower = head.toLowerCase();
  }

  has(name: string): boolean {
    return this.#lower.includes(startOf(name));
  }

  /** Returns all values of a field, joined by commas, or null when there are none. `name` is in lower case. */
  get(name: string): string | null {
    const needle = startOf(name);
    let joined: string | null = null;
    for (
      let at = this.#lower.indexOf(needle);
      at >= 0;
      at = this.#lower.indexOf(needle, at + needle.length)
    ) {
      const start = at + needle.length;
      const end = this.#text.indexOf("\r", start);
      const value = this.#text.slice(start, end < 0 ? undefined : end).trim();
      joined = joined === null ? value : `${joined}, ${value}`;
    }
    return joined;
  }
}

const STARTS = new Map<string, string>();

/** Returns the text that starts a field. It is kept, because the code requests few names many times. */
function startOf(name: string): string {
  const known = STARTS.get(name);
  if (known !== undefined) return known;
  const start = `\n${name}:`;
  STARTS.set(name, start);
  return start;
}
