import { expect, test } from "bun:test";
import fc from "fast-check";
import { editMembers, removeMember, removeMembers } from "./json-edit.ts";

const one = () => "1";

test.each([
  ['{ "a" : 0 , "b":[{"a":2}] }', '{ "a" : 1 , "b":[{"a":2}] }'],
  ['{"b":0,"a":"x","a" :null}', '{"b":0,"a":"x","a" :1}'],
  ['{"b":0}', '{"a":1,"b":0}'],
  ["{ }", '{"a":1 }'],
  ['{"\\u0061":0}', '{"\\u0061":1}'],
])("a member of %p is set in place or inserted", (text, expected) => {
  expect(editMembers(text, { a: one })).toBe(expected);
});

test("several members are edited at once, and undefined leaves one as it is", () => {
  const double = (value = "0") => String(2 * Number(value));
  expect(editMembers('{"c":3,"a":4}', { a: double, b: double, c: double, d: () => undefined })).toBe(
    '{"b":0,"c":6,"a":8}',
  );
  expect(editMembers('{"c":3}', { a: () => undefined })).toBe('{"c":3}');
});

test.each([
  ['{"a":1,"x":{"x":2},"b":3}', '{"a":1,"b":3}'],
  ['{"a":1, "x" : "," }', '{"a":1 }'],
  ['{ "x":[1] }', "{  }"],
  ['{"x":1,"a":"x","x":2,"\\u0078":3}', '{"a":"x"}'],
  ['{"a":{"x":1}}', '{"a":{"x":1}}'],
])("a member is removed with one comma: %s", (text, rest) => {
  expect(removeMember(text, "x")).toBe(rest);
});

test("several members are removed, wherever they stand, and the others keep their text", () => {
  const member = fc.tuple(
    fc.constantFrom("x", "y", "a", "b"),
    fc.constantFrom("1.0", '"x"', '{"x": [1 ,2]}', "null"),
  );
  const space = fc.constantFrom("", " ", "\n ");
  fc.assert(
    fc.property(fc.array(member, { maxLength: 7 }), space, (members, gap) => {
      const write = (list: typeof members) => list.map(([name, value]) => `"${name}"${gap}:${gap}${value}`);
      const rest = removeMembers(`{${write(members).join(`${gap},${gap}`)}}`, ["x", "y"]);
      const kept = members.filter(([name]) => name !== "x" && name !== "y");
      expect(JSON.parse(rest)).toEqual(JSON.parse(`{${write(kept).join(",")}}`));
      for (const text of write(kept)) expect(rest).toContain(text);
    }),
  );
});
