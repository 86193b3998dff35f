import fc, { type Arbitrary } from "fast-check";

const space = fc.constantFrom("", "", " ", "\n", "\t ");
const number = fc.constantFrom(
  "0",
  "-0",
  "1.0",
  "1e5",
  "12345678901234567890",
  "0.1000",
  "-3.5E-7",
  "9007199254740993",
);
const string = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '"\\u00e9"',
    '"\\/"',
    '"\\ud83d\\ude42"',
    '"é語🙂"',
    '"\\u0041\\n"',
    '"{\\"model\\":\\"x\\"}"',
  ),
);

/** JSON text of any value in any spelling: numbers beyond double precision, escapes, white space, repeated names. */
export const jsonText: Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("true", "false", "null"),
    number,
    string,
    fc.tuple(fc.array(tie("value"), { maxLength: 4 }), space).map(([items, gap]) => {
      return `[${gap}${items.join(`${gap},${gap}`)}${gap}]`;
    }),
    fc.tuple(fc.array(fc.tuple(string, tie("value")), { maxLength: 4 }), space).map(([members, gap]) => {
      return `{${gap}${members.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`,${gap}`)}}`;
    }),
  ),
})).value;
