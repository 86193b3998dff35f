import { beforeAll, expect, test } from "bun:test";
import { seriesColour, withColours } from "./series-colours.ts";

beforeAll(() => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
  };
  Object.assign(globalThis, { localStorage: storage });
});

test("the series of a chart differ in colour, however many names were seen before", () => {
  const early = Array.from({ length: 20 }, (_, index) => `early-${index}`);
  for (const name of early) seriesColour(name);
  const names = Array.from({ length: 12 }, (_, index) => ({ name: `late-${index}` }));
  const colours = withColours(names).map(({ colour }) => colour);
  expect(new Set(colours).size).toBe(12);
  expect(withColours([{ name: "early-0" }])[0]?.colour).toBe(seriesColour("early-0"));
  const given = withColours([{ name: "other", colour: "oklch(0 0 0)" }, { name: "early-0" }]);
  expect(given.map(({ colour }) => colour)).toEqual(["oklch(0 0 0)", seriesColour("early-0")]);
});

test("a chart of more series than there are colours has them all", () => {
  const names = Array.from({ length: 14 }, (_, index) => ({ name: `many-${index}` }));
  expect(withColours(names).filter(({ colour }) => colour === undefined)).toEqual([]);
});
