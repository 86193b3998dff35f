import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLinks, newBlobName } from "./links.ts";

const time = { now: 1_800_000_000_000 };
const clock = { now: () => time.now, monotonic: () => 0 };
const secret = "0123456789abcdef".repeat(4);
const links = createLinks({
  secrets: () => [secret],
  lifetimeSeconds: 86_400,
  longestSeconds: 604_800,
  hoursInUse: () => [null, 2],
  clock,
});

function check(address: string, by = links) {
  const url = URL.parse(address);
  const name = /^\/base\/files\/([^/]*)$/.exec(url?.pathname ?? "")?.[1];
  if (!url || name === undefined) return "invalid";
  return by.check(name, url.searchParams.get("exp"), url.searchParams.get("sig"));
}

test("a link is base, name, expiry and signature, and valid for a day", () => {
  const name = newBlobName("png");
  const link = links.sign("https://gateway.example/base/", name);
  expect(link).toMatch(
    /^https:\/\/gateway\.example\/base\/files\/[0-9a-f]{32}\.png\?exp=1800086400&sig=[\w-]{43}$/,
  );
  expect(check(link)).toBe("valid");
  time.now += 86_399_999;
  expect(check(link)).toBe("valid");
  time.now += 1;
  expect(check(link)).toBe("expired");
  time.now -= 86_400_000;
});

test("a link may be given another lifetime, up to the time that pictures are kept", () => {
  const expiryOf = (hours: number | null) => {
    const link = new URL(links.sign("https://gateway.example", newBlobName("png"), hours));
    return Number(link.searchParams.get("exp")) - time.now / 1000;
  };
  expect([null, 1, 0.5, 100_000].map(expiryOf)).toEqual([86_400, 3_600, 1_800, 604_800]);
});

test.each([null, 2])("a link of %p hours is new for minutes, by any machine's clock", (hours) => {
  const link = new URL(links.sign("https://gateway.example", newBlobName("png"), hours));
  const isNew = () => links.isNew(link.searchParams.get("exp"));
  const signedAt = time.now;
  const after = [-299, 0, 299, 301].map((seconds) => {
    time.now = signedAt + seconds * 1000;
    return isNew();
  });
  time.now = signedAt;
  expect(after).toEqual([true, true, true, false]);
});

test("any one-character change of name, expiry or signature is refused", () => {
  const base = "https://gateway.example/base";
  const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.=%+ ";
  for (const format of ["png", "jpeg", "webp"] as const) {
    const link = links.sign(base, newBlobName(format));
    for (let at = `${base}/files/`.length; at < link.length; at += 1)
      for (const letter of alphabet) {
        if (letter === link[at]) continue;
        expect(check(link.slice(0, at) + letter + link.slice(at + 1))).toBe("invalid");
      }
    for (let at = base.length + 7; at < link.length; at += 1)
      expect(check(link.slice(0, at) + link.slice(at + 1))).toBe("invalid");
    for (const more of ["0", "A", "="]) expect(check(link + more)).toBe("invalid");
  }
});

test("a signature is good for its own name and expiry only", () => {
  const [one, two] = [newBlobName("png"), newBlobName("png")];
  const url = new URL(links.sign("https://gateway.example", one));
  const [expires, signature] = [url.searchParams.get("exp"), url.searchParams.get("sig")];
  expect(links.check(two, expires, signature)).toBe("invalid");
  expect(links.check(one, String(Number(expires) + 1), signature)).toBe("invalid");
  expect(links.check(one, `0${expires}`, signature)).toBe("invalid");
  expect(links.check(one, null, signature)).toBe("invalid");
  expect(links.check(one, expires, null)).toBe("invalid");
});

test("an expired link with a wrong signature is invalid, not expired", () => {
  expect(links.check(newBlobName("png"), "1", "A".repeat(43))).toBe("invalid");
});

test("only valid links pass, whatever expiry and signature are given", () => {
  const name = newBlobName("png");
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (name_, expires, signature) => {
      expect(links.check(name_, expires, signature)).toBe("invalid");
      expect(links.check(name, expires, signature)).toBe("invalid");
    }),
  );
});

test("after a rotation the new secret signs and the old one still verifies", () => {
  const next = "f".repeat(64);
  const rotated = createLinks({
    secrets: () => [next, secret],
    lifetimeSeconds: 60,
    longestSeconds: 60,
    hoursInUse: () => [],
    clock,
  });
  const name = newBlobName("webp");
  const [before, after] = [links, rotated].map((by) => by.sign("https://gateway.example/base", name)) as [
    string,
    string,
  ];
  expect(check(before, rotated)).toBe("valid");
  expect(check(after, rotated)).toBe("valid");
  expect(check(after, links)).toBe("invalid");
  const without = createLinks({
    secrets: () => [next],
    lifetimeSeconds: 60,
    longestSeconds: 60,
    hoursInUse: () => [],
    clock,
  });
  expect(check(before, without)).toBe("invalid");
});

test("a short or missing secret is refused", () => {
  for (const secrets of [[], ["short"], [secret, ""]])
    expect(() =>
      createLinks({
        secrets: () => secrets,
        lifetimeSeconds: 60,
        longestSeconds: 60,
        hoursInUse: () => [],
        clock,
      }),
    ).toThrow(RangeError);
});
