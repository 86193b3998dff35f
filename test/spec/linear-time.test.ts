import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findExpressions, scanExpressions } from "../support/regular-expressions.ts";
import { attacksOn, writeAttack, type Attack } from "../support/worst-inputs.ts";

/** A shorter duration is noise. */
const NOISE_MS = 2;
/** Minimum duration with which growth from 1,000 to 10,000 characters can be measured. */
const CLEAR_MS = 10;
const MIN_SLOW_MS = 50;
const MAX_GROWTH = 30;
/** Duration that other processes and garbage collection cannot explain. */
const DECISIVE_MS = 1_000;

/** Returns the milliseconds of one search in a text. A global expression replaces its matches, as in the sources. */
function time(expression: RegExp, text: string): number {
  expression.lastIndex = 0;
  const startedAt = performance.now();
  if (expression.global) text.replace(expression, "");
  else expression.test(text);
  return performance.now() - startedAt;
}

/** Returns an attack whose time grows faster than its length, or null. Repeats a doubtful measurement. */
function slowest(expression: RegExp): Attack | null {
  for (const attack of attacksOn(expression)) {
    // Short texts come first, because an exponential expression would never end on a longer text.
    for (const length of [24, 1_000])
      if (leastTime(expression, writeAttack(attack, length)) > MIN_SLOW_MS) return attack;
    if (isSuperlinear(expression, attack)) return attack;
  }
  return null;
}

/** Returns the minimum of three times, because another process can lengthen a time. */
function leastTime(expression: RegExp, text: string): number {
  return Math.min(...[1, 2, 3].map(() => time(expression, text)));
}

function isSuperlinear(expression: RegExp, attack: Attack): boolean {
  const small = writeAttack(attack, 1_000);
  const medium = writeAttack(attack, 10_000);
  const large = writeAttack(attack, 100_000);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const mediumMs = time(expression, medium);
    if (mediumMs < NOISE_MS) return false;
    if (mediumMs > CLEAR_MS && mediumMs > MAX_GROWTH * leastTime(expression, small)) continue;
    const largeMs = time(expression, large);
    if (!isSlower(largeMs, mediumMs)) return false;
    if (largeMs > DECISIVE_MS) return true;
  }
  return true;
}

/** True when ten times the length took so much longer that the time cannot be linear. */
function isSlower(longerMs: number, shorterMs: number): boolean {
  return longerMs > MIN_SLOW_MS && longerMs > MAX_GROWTH * shorterMs;
}

describe("regular expressions", () => {
  const found = findExpressions(join(import.meta.dir, "../../src"));

  test("of the sources are all found", () => {
    expect(found.length).toBeGreaterThan(100);
    const source = 'const a = b / c / d; f(/"[/"]+\\/x/g, `/${/y/u.source}/`); return /z/; // /no/\n"/no/"';
    expect(scanExpressions(source, "a.ts").map(({ expression }) => String(expression))).toEqual([
      '/"[/"]+\\/x/g',
      "/y/u",
      "/z/",
    ]);
    const tags = "<p>a</p> / <b {...c} /> <i>{d.match(/e/g)}</i> <u />";
    expect(scanExpressions(tags, "a.tsx").map(({ expression }) => String(expression))).toEqual(["/e/g"]);
    expect(found.some(({ where }) => /\.tsx:/.test(where))).toBe(true);
  });

  test("that take quadratic or exponential time are recognized", () => {
    for (const expression of [/a\s*b?\s*$/, /^(a+)+$/, /^x:[\t ]*(.*?)[\t ]*$/s, /<!--[^]*?-->/, /\b[\w-]+@/])
      expect([expression, slowest(expression)]).not.toEqual([expression, null]);
    for (const expression of [/^\s+$/, /^[a-z]+\d{1,3}$/, /"(?:[^"\\]|\\.){0,20}"/, /[ \t]+/g])
      expect([expression, slowest(expression)]).toEqual([expression, null]);
  });

  test("take time that grows with the length of the text only", () => {
    const slow = found.flatMap(({ where, expression }) => {
      const attack = slowest(expression);
      return attack ? [`${where} on ${JSON.stringify(attack)}`] : [];
    });
    expect(slow).toEqual([]);
  }, 120_000);
});
