import { expect, test } from "bun:test";
import { slowCauses } from "./traffic-causes.ts";

const waiting = [61_000, 62_000, 63_000].map((waitedMs) => ({
  organization: "default",
  channel: "house",
  waitedMs,
}));

test("what is usual is told of a slow vendor only where it is known", () => {
  const traffic = { calls: [], requests: [] };
  const [known] = slowCauses({ ...traffic, usualMs: new Map([["house", 1_200]]) }, waiting, 0);
  expect(known?.message).toBe("house takes 63 s to answer, usually 1.2 s.");
  expect(known?.figures).toMatchObject({ usual: 1.2 });
  for (const usualMs of [new Map(), new Map([["house", 20]])]) {
    const [unknown] = slowCauses({ ...traffic, usualMs }, waiting, 0);
    expect(unknown?.message).toBe("house takes 63 s to answer.");
    expect(unknown?.figures).not.toHaveProperty("usual");
  }
});
