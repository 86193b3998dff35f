import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  hashSecret,
  isFixableSecret,
  isWellFormedSecret,
  newSecret,
  randomText,
  secretPrefix,
  secretTest,
} from "./secret.ts";

test("a new secret is well formed, of 41 characters, and never the same twice", () => {
  const secrets = Array.from({ length: 2000 }, newSecret);
  expect(new Set(secrets).size).toBe(2000);
  for (const secret of secrets) {
    expect(secret).toMatch(/^gk_[0-9A-Za-z]{38}$/);
    expect(isWellFormedSecret(secret)).toBe(true);
  }
});

test("any single changed character is caught", () => {
  const printable = fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code));
  const property = fc.property(fc.nat(40), printable, (position, character) => {
    const secret = newSecret();
    fc.pre(secret[position] !== character);
    expect(isWellFormedSecret(secret.slice(0, position) + character + secret.slice(position + 1))).toBe(
      false,
    );
  });
  fc.assert(property, { numRuns: 20_000 });
});

test("a secret that is cut, extended or empty is not well formed", () => {
  const secret = newSecret();
  for (const text of ["", "gk_", secret.slice(0, -1), `${secret}x`, ` ${secret}`, secret.slice(3)])
    expect(isWellFormedSecret(text)).toBe(false);
});

test("the hash is the SHA-256 in lower-case hex", () => {
  expect(hashSecret("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("only the configured secret passes without a checksum", () => {
  const fixed = "gk_fixed-by-the-operator_1";
  const isPossible = secretTest(fixed);
  expect(isWellFormedSecret(fixed)).toBe(false);
  expect(isPossible(fixed)).toBe(true);
  expect(isPossible(newSecret())).toBe(true);
  expect(isPossible("gk_fixed-by-the-operator_2")).toBe(false);
  expect(secretTest(null)(fixed)).toBe(false);
});

test("a configured secret needs the prefix and twenty URL-safe characters", () => {
  expect(isFixableSecret(`gk_${"a".repeat(20)}`)).toBe(true);
  expect(isFixableSecret(newSecret())).toBe(true);
  for (const text of [
    `gk_${"a".repeat(19)}`,
    `sk_${"a".repeat(20)}`,
    `gk_${"a".repeat(20)} `,
    `gk_${"é".repeat(20)}`,
  ])
    expect(isFixableSecret(text)).toBe(false);
});

test("the prefix is the first eight characters", () => {
  expect(secretPrefix("gk_abcdefghij")).toBe("gk_abcde");
});

test("random text uses its whole alphabet evenly", () => {
  const counts = new Map<string, number>();
  for (const character of randomText(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect(counts.size).toBe(62);
  expect(Math.min(...counts.values())).toBeGreaterThan(800);
  expect(Math.max(...counts.values())).toBeLessThan(1200);
});
