import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isPublicAddress } from "./address.ts";
import { readLink } from "./link.ts";

describe("any link", () => {
  const octet = fc.oneof(
    fc.nat(255),
    fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 255),
  );
  const ipv4 = fc.tuple(octet, octet, octet, octet);
  /** The denied networks as ranges of numbers. This second form reveals a mistake in either list. */
  const deniedRanges = (
    "0.0.0.0-0.255.255.255 10.0.0.0-10.255.255.255 100.64.0.0-100.127.255.255 127.0.0.0-127.255.255.255 " +
    "168.63.129.16-168.63.129.16 169.254.0.0-169.254.255.255 172.16.0.0-172.31.255.255 192.0.0.0-192.0.0.255 " +
    "192.0.2.0-192.0.2.255 192.31.196.0-192.31.196.255 192.52.193.0-192.52.193.255 192.88.99.0-192.88.99.255 " +
    "192.168.0.0-192.168.255.255 192.175.48.0-192.175.48.255 198.18.0.0-198.19.255.255 198.51.100.0-198.51.100.255 " +
    "203.0.113.0-203.0.113.255 224.0.0.0-255.255.255.255"
  )
    .split(" ")
    .map((range) => range.split("-").map((address) => toNumber(address.split(".").map(Number))));

  function toNumber(octets: readonly number[]): number {
    return octets.reduce((sum, octet) => sum * 256 + octet, 0);
  }

  function isDenied(octets: readonly number[]): boolean {
    return deniedRanges.some(([low = 0, high = 0]) => toNumber(octets) >= low && toNumber(octets) <= high);
  }

  const spellings: ((octets: readonly number[]) => string)[] = [
    (octets) => octets.join("."),
    (octets) => String(toNumber(octets)),
    (octets) => `0x${toNumber(octets).toString(16)}`,
    (octets) => octets.map((octet) => `0${octet.toString(8)}`).join("."),
    (octets) => octets.map((octet) => `0x${octet.toString(16)}`).join("."),
    (octets) => `${octets[0]}.${toNumber(octets.slice(1))}`,
    (octets) => `${octets.join(".")}.`,
  ];
  const embeddings: ((octets: readonly number[]) => string)[] = [
    (octets) => `[::ffff:${octets.join(".")}]`,
    (octets) => `[::${octets.join(".")}]`,
    (octets) => `[64:ff9b::${octets.join(".")}]`,
    (octets) =>
      `[2002:${octets
        .map((octet) => octet.toString(16).padStart(2, "0"))
        .join("")
        .replace(/(.{4})/, "$1:")}::1]`,
    (octets) => `[2001::${octets.join(".")}]`,
  ];

  test("an IPv4 address is allowed in any spelling exactly when it is public, embedded in IPv6 never", () => {
    fc.assert(
      fc.property(
        ipv4,
        fc.constantFrom(...spellings),
        fc.constantFrom(...embeddings),
        (octets, spell, embed) => {
          expect(readLink(`https://${spell(octets)}/`) !== null).toBe(!isDenied(octets));
          expect(isPublicAddress(octets.join("."))).toBe(!isDenied(octets));
          expect(readLink(`https://${embed(octets)}/`)).toBeNull();
          expect(readLink(`https://[2600::5efe:${octets.join(".")}]/`) !== null).toBe(!isDenied(octets));
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("every allowed link is https, on no internal port, without credentials, to a public host", () => {
    const host = fc.oneof(
      { arbitrary: fc.domain(), weight: 4 },
      ipv4.map((octets) => octets.join(".")),
      fc.ipV6().map((address) => `[${address}]`),
      fc.constantFrom(
        "localhost",
        "127.1",
        "metadata.google.internal",
        "a.b.local",
        "１２７.0.0.1",
        "0x7f.1",
      ),
      fc.string({ unit: "grapheme", maxLength: 12 }),
    );
    const text = fc
      .tuple(
        fc.constantFrom(
          "https://",
          "https://",
          "https://",
          "https://",
          "https:",
          "HTTPS://",
          "http://",
          "//",
          "https:\\\\",
          "ftp://",
          " https://",
          "",
        ),
        fc.constantFrom("", "", "", "", "", "", "@", "user@", "u:p@", "127.0.0.1\\@", "%40"),
        host,
        fc.constantFrom("", "", "", ":443", ":80", ":8443", ":6379", ":022", ":", "."),
        fc.oneof(fc.webPath(), fc.string({ unit: "binary", maxLength: 10 })),
      )
      .map((pieces) => pieces.join(""));
    let passed = 0;
    fc.assert(
      fc.property(text, (text) => {
        const link = readLink(text);
        if (!link) return;
        passed += 1;
        expect([link.url.protocol, link.url.username, link.url.password]).toEqual(["https:", "", ""]);
        expect(["", "80", "8443"]).toContain(link.url.port);
        const octets = link.host.split(".").map(Number);
        const isIpv4 = octets.length === 4 && octets.every((octet) => octet >= 0 && octet <= 255);
        if (isIpv4) expect(isDenied(octets)).toBe(false);
        else if (link.isAddress) expect(/^[23]/.test(link.host)).toBe(true);
        else expect(link.host).toMatch(/^[a-z0-9_.-]+\.[a-z0-9_-]+$/);
        expect(link.host).not.toMatch(/(^|\.)(localhost|local|internal)\.?$/);
      }),
      { numRuns: 20_000 },
    );
    expect(passed).toBeGreaterThan(500);
  });
});
