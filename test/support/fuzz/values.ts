/** The random choices for one body. Equal seeds give equal choices. */
export class Choices {
  readonly #random: () => number;

  /** `random` returns numbers from 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /** Returns true on average once in `times` calls. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!;
  }
}

const NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  2,
  4,
  5,
  16,
  100,
  101,
  0.5,
  -1.5,
  1e21,
  1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  18_446_744_073_686_647_000,
];

const TEXTS: readonly string[] = [
  "",
  " ",
  "a",
  "null",
  "0",
  "-1",
  "true",
  "auto",
  "1024x1024",
  "0x0",
  "99999x99999",
  "1024×1024",
  "16:9",
  "0:0",
  "1:1e9",
  "4K",
  "png",
  "url",
  "b64_json",
  "user",
  "__proto__",
  "constructor",
  "toString",
  "\0",
  "\u2028\ufeff",
  "\ud800",
  "é\u0301𝒳🦊",
  "%s%n${7*7}{{7*7}}",
  "' OR '1'='1",
  "=cmd|' /C calc'!A0",
  "</script>",
  "../../../etc/passwd",
  "data:,",
  "data:image/png;base64,",
  "data:image/png;base64,AAAA",
  "data:image/svg+xml;base64,PHN2Zy8+",
  "data:text/html,<b>",
  "https://127.0.0.1/a.png",
  "https://[::ffff:7f00:1]/a.png",
  "https://0x7f000001/a.png",
  "https://192.0.2.1/a.png",
  "http://192.0.2.1/a.png",
  "file:///etc/passwd",
  "gopher://a.invalid/",
  "https://user:pw@a.invalid/",
  "50字",
  "1,000-word",
];

/** Field names of the protocols, because readers ignore values under other names. */
const NAMES: readonly string[] = [
  "model",
  "messages",
  "role",
  "content",
  "type",
  "text",
  "image_url",
  "url",
  "tools",
  "function",
  "parameters",
  "response_format",
  "json_schema",
  "schema",
  "properties",
  "required",
  "enum",
  "anyOf",
  "$ref",
  "stream",
  "stream_options",
  "n",
  "max_tokens",
  "prompt",
  "size",
  "image",
  "images",
  "mask",
  "contents",
  "parts",
  "inlineData",
  "data",
  "fileData",
  "generationConfig",
  "imageConfig",
  "provider",
  "__proto__",
  "constructor",
  "",
  "\0",
  "ключ",
];

/** Returns any JSON value, mostly small but sometimes with a long text. */
export function anyValue(choices: Choices, depth = 0): unknown {
  switch (choices.below(depth > 3 ? 5 : 8)) {
    case 0:
      return null;
    case 1:
      return choices.once(2);
    case 2:
      return choices.pick(NUMBERS);
    case 3:
    case 4:
      return anyText(choices);
    case 5:
      return Array.from({ length: choices.below(4) }, () => anyValue(choices, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: choices.below(4) }, () => [anyName(choices), anyValue(choices, depth + 1)]),
      );
  }
}

export function anyText(choices: Choices): string {
  const text = choices.pick(TEXTS);
  if (!choices.once(12)) return text;
  return (text || "x").repeat(1 + choices.below(choices.once(10) ? 60_000 : 600));
}

export function anyName(choices: Choices): string {
  const name = choices.pick(NAMES);
  return choices.once(8) ? name.toUpperCase() : name;
}
