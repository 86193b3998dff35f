import { expect, test } from "bun:test";
import fc from "fast-check";
import { scanArray } from "./json.ts";
import { RawJson, writeJson } from "./json-edit.ts";

test("writes every value as JSON.stringify does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(writeJson(value)).toBe(JSON.stringify(value));
    }),
  );
  expect(writeJson({ a: undefined, b: [undefined, 1] })).toBe('{"b":[null,1]}');
});

test("writes raw text as it is", () => {
  const raw = '{ "b": 12345678901234567890, "1": 1.0, "e": "\\u0041" }';
  expect(writeJson({ input: new RawJson(raw), rest: [new RawJson("1.0")] })).toBe(
    `{"input":${raw},"rest":[1.0]}`,
  );
});

test("writes many raw texts in their places", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const texts = values.map((value) => JSON.stringify(value, null, 1));
      expect(writeJson({ a: texts.map((text) => new RawJson(text)), b: values })).toBe(
        `{"a":[${texts.join(",")}],"b":${JSON.stringify(values)}}`,
      );
    }),
  );
  expect(writeJson(new RawJson("1.0"))).toBe("1.0");
});

test("finds the items of an array", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 2), (items, indent) => {
      const text = JSON.stringify(items, null, indent);
      const found = scanArray(text).map(({ start, end }) => JSON.parse(text.slice(start, end)));
      expect(JSON.stringify(found)).toBe(JSON.stringify(items));
    }),
  );
  expect(scanArray(' [ "a,]\\"" , {"b":[1]} ] ')).toEqual([
    { start: 3, end: 10 },
    { start: 13, end: 22 },
  ]);
  expect(scanArray("[ ]")).toEqual([]);
});
