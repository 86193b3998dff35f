import { expect, test } from "bun:test";
import { MemberSlots } from "./member-slots.ts";

test("slots are bounded for a member and for all members, and giving one back twice frees it once", () => {
  const slots = new MemberSlots({ ofMember: 2, ofAll: 3 }, "too many");
  const [first] = [slots.take("one"), slots.take("one")];
  expect(() => slots.take("one")).toThrow("too many");
  const other = slots.take("other");
  expect(() => slots.take("third")).toThrow("too many");
  first!();
  first!();
  slots.take("one");
  expect(() => slots.take("one")).toThrow("too many");
  other();
  slots.take("third");
  expect(() => slots.take("other")).toThrow("too many");
});
