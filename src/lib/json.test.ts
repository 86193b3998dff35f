import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exceededBound, hasRepeatedName, isObject, scanObject, splice, ownValue } from "./json.ts";

function scan(text: string, names: string[]) {
  const parsed: unknown = JSON.parse(text);
  if (!isObject(parsed)) throw new Error("not an object");
  const found = scanObject(text, names);
  const values = found.spans.map((span) => span && text.slice(span.start, span.end));
  return { values, depth: found.depth, isRepeated: hasRepeatedName(found, parsed) };
}

describe("scanObject", () => {
  test("finds values at any position, and no others", () => {
    expect(scan('{"model":"a","n":1}', ["model"]).values).toEqual(['"a"']);
    expect(scan(' { "x" : {"model":"inner"} , "model" : "outer" } ', ["model"]).values).toEqual(['"outer"']);
    expect(scan('{"x":"\\"model\\":\\"no\\"","model":"yes"}', ["model"]).values).toEqual(['"yes"']);
    expect(scan('{"role":"model"}', ["model"]).values).toEqual([undefined]);
    expect(scan('{"options":{"a":[1,{"b":2}]}}', ["options"]).values).toEqual(['{"a":[1,{"b":2}]}']);
  });

  test("reads escaped names", () => {
    expect(scan('{"mod\\u0065l":"x"}', ["model"]).values).toEqual(['"x"']);
    expect(scan('{"model":"a","mod\\u0065l":"b"}', ["model"])).toMatchObject({
      values: ['"b"'],
      isRepeated: true,
    });
  });

  test("reports a repeated top-level name, but no nested one", () => {
    expect(scan('{"model":"a","model":"b"}', []).isRepeated).toBe(true);
    expect(scan('{"a":{"b":1,"b":2}}', []).isRepeated).toBe(false);
    expect(scan('{"__proto__":1,"constructor":2}', []).isRepeated).toBe(false);
  });

  test("counts levels of objects and arrays", () => {
    expect(scan("{}", []).depth).toBe(1);
    expect(scan('{"a":[[{}]]}', []).depth).toBe(4);
    expect(scan(`{"a":${"[".repeat(200)}${"]".repeat(200)}}`, []).depth).toBe(201);
    expect(scan(`{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`, []).depth).toBeGreaterThan(128);
  });

  test("replacing a value changes nothing else in any object", () => {
    const property = fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.string(),
      fc.boolean(),
      (object, value, isSpaced) => {
        const subject = { ...object, model: "before" };
        const text = JSON.stringify(subject, null, isSpaced ? 2 : 0);
        const [span] = scanObject(text, ["model"]).spans;
        if (!span) throw new Error("the member was not found");
        const after = JSON.parse(splice(text, [{ span, text: JSON.stringify(value) }]));
        expect(after).toEqual({ ...(JSON.parse(JSON.stringify(subject)) as object), model: value });
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });
});

test("names, values and levels outside of strings are counted up to their bounds", () => {
  const text = '{"a":[1,2,":,{["],"b":{"c":":"}}';
  const bounds = { depth: 2, values: 11, perString: 1, names: 3, escapes: 0, unquoted: 29 };
  expect(exceededBound(text, bounds)).toBeNull();
  expect(exceededBound(text, { ...bounds, values: 10 })).toBe("values");
  expect(exceededBound(text, { ...bounds, names: 2 })).toBe("names");
  expect(exceededBound(text, { ...bounds, depth: 1 })).toBe("depth");
  expect(exceededBound(text, { ...bounds, names: 2, freeNames: new Set(["c"]) })).toBeNull();
  expect(exceededBound(text, { ...bounds, values: 21, perString: 3 })).toBeNull();
  expect(exceededBound(text, { ...bounds, values: 20, perString: 3 })).toBe("values");
});

test("characters outside of strings are counted up to their bound", () => {
  const bounds = { depth: 1, values: 9, perString: 1, names: 1, escapes: 0, unquoted: 8 };
  const text = '{"a": 10 }';
  expect(exceededBound(text, bounds)).toBeNull();
  expect(exceededBound(text, { ...bounds, unquoted: 7 })).toBe("unquoted");
});

test("escapes are counted up to their bound", () => {
  const bounds = { depth: 1, values: 9, perString: 1, names: 1, escapes: 2, unquoted: 99 };
  expect(exceededBound('{"a":"\\\\ \\n"}', bounds)).toBeNull();
  expect(exceededBound('{"a":"\\\\ \\n\\u0041"}', bounds)).toBe("escapes");
});

test("a table has what was put into it, and nothing that objects inherit", () => {
  const table: Record<string, number> = Object.assign(Object.create({ inherited: 2 }), { known: 1 });
  expect(ownValue(table, "known")).toBe(1);
  for (const name of ["inherited", "unknown", "constructor", "toString", "__proto__"])
    expect(ownValue(table, name)).toBeUndefined();
});
