/** A text that slows a backtracking matcher: `prefix`, repetitions of `pump`, and an end that does not match. */
export interface Attack {
  prefix: string;
  pump: string;
  tail: string;
}

/**
 * Derives attacks from an expression's structure: all combinations of a prefix, a pump and a tail. Prefixes are
 * examples of the text before a repeated part. Pumps are texts that a repeated part accepts, and the prefixes.
 */
export function attacksOn(expression: RegExp): Attack[] {
  const [shortest, fullest] = [walk(expression, true), walk(expression, false)];
  const prefixes = new Set(["", "\0", ...shortest.prefixes, ...fullest.prefixes]);
  const pumps = new Set([...shortest.pumps, ...fullest.pumps, ...prefixes]);
  pumps.delete("");
  return [...prefixes].flatMap((prefix) =>
    [...pumps].flatMap((pump) => TAILS.map((tail) => ({ prefix, pump, tail }))),
  );
}

/** Returns the attack as a text of about this length. */
export function writeAttack({ prefix, pump, tail }: Attack, characters: number): string {
  return prefix + pump.repeat(Math.ceil(characters / pump.length)) + tail;
}

const TAILS = ["", "\0", "\n!"];
const SAMPLES = Array.from("a 1A-_.:,;\"'\\/=+%&<>(){}[]#\t\n\r\0é个");
const MAX_PUMPS = 8;

/** Matches a character, a class, a group's bracket, or a bar. */
const ATOM =
  /(?<open>\((?:\?(?:<?[=!]|:|<\w+>))?)|(?<close>\))|(?<bar>\|)|(?<anchor>[$^]|\\[bB])|(?<one>\\p\{\w+\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\c[A-Z]|\\[\s\S]|\[(?:[^\]\\]|\\.)*\]|[\s\S])/giy;
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;

/** Examples of the text before each repeated part, and texts that a repeated part accepts. */
interface Structure {
  prefixes: Set<string>;
  pumps: Set<string>;
}

/** `skips`: true when examples omit optional parts. */
function walk({ source, flags }: RegExp, skips: boolean): Structure {
  const prefixes = new Set<string>();
  const pumps = new Set<string>();
  const groups: { start: string; isLookaround: boolean }[] = [];
  let example = "";
  for (let at = 0; at < source.length;) {
    ATOM.lastIndex = at;
    const { open, close, bar, one } = ATOM.exec(source)?.groups ?? {};
    QUANTIFIER.lastIndex = ATOM.lastIndex;
    const quantifier = open || bar ? "" : (QUANTIFIER.exec(source)?.[0] ?? "");
    at = ATOM.lastIndex + quantifier.length;
    if (open) groups.push({ start: example, isLookaround: /[=!]$/.test(open) });
    if (bar) example = groups.at(-1)?.start ?? "";
    const group = close ? groups.pop() : undefined;
    const start = group?.start ?? example;
    const accepted = one === undefined ? [example.slice(start.length)] : acceptedBy(one, flags);
    if (isUnbounded(quantifier)) {
      prefixes.add(start);
      for (const text of [...accepted.slice(0, MAX_PUMPS), mixed(accepted)]) pumps.add(text);
    }
    const isLeftOut = group?.isLookaround || (skips && /^(?:[*?]|\{0)/.test(quantifier));
    if (group && isLeftOut) example = start;
    if (one !== undefined && !isLeftOut)
      example += (accepted[0] ?? "").repeat(Number(/^\{([1-9]\d*)/.exec(quantifier)?.[1] ?? 1));
  }
  return { prefixes, pumps };
}

/** Returns a word character followed by another character, so that repetitions have many word boundaries. */
function mixed(accepted: readonly string[]): string {
  const [word, mark] = [
    accepted.find((text) => /\w$/.test(text)),
    accepted.find((text) => /[^\w\s]$/.test(text)),
  ];
  return word === undefined || mark === undefined ? "" : word + mark;
}

/** True when the maximum of repetitions is too high to be a constant factor. */
function isUnbounded(quantifier: string): boolean {
  return /^[*+]|,\}|\d{3,}\}/.test(quantifier);
}

function acceptedBy(one: string, flags: string): string[] {
  const atom = new RegExp(`^(?:${one})$`, flags.replaceAll(/[gy]/g, ""));
  const literal = one.startsWith("[") || one.startsWith("\\") ? Array.from(one) : [one];
  return [...new Set([...SAMPLES, ...literal])].filter((character) => atom.test(character));
}
