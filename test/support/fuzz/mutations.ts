import { anyName, anyText, anyValue, type Choices } from "./values.ts";

type Container = Record<string, unknown> | unknown[];

/** Changes a JSON value at random places. There are few changes, so that other parts stay unchanged. */
export function mutateValue(value: object, choices: Choices): unknown {
  let changed: unknown = structuredClone(value);
  for (let times = 1 + choices.below(3); times > 0; times -= 1) {
    const containers = containersIn(changed);
    if (containers.length > 0) mutateMember(choices.pick(containers), choices);
    else changed = anyValue(choices);
  }
  return choices.once(60) ? nested(changed, choices) : changed;
}

function mutateMember(container: Container, choices: Choices): void {
  const record = container as Record<string, unknown>;
  const name = choices.pick([...Object.keys(container), "0"]);
  switch (choices.below(7)) {
    case 0:
      delete record[name];
      return;
    case 1:
      define(
        record,
        Array.isArray(container) ? String(container.length) : anyName(choices),
        anyValue(choices),
      );
      return;
    case 2:
      define(record, name, [record[name]]);
      return;
    case 3:
      define(record, name, { [anyName(choices)]: record[name] });
      return;
    case 4:
      if (Array.isArray(container)) container.push(...container.slice(0, 20));
      else define(record, name.toUpperCase(), record[name]);
      return;
    case 5:
      define(record, name, anyText(choices));
      return;
    default:
      define(record, name, anyValue(choices));
  }
}

/** Defines an own member, even with the name `__proto__`. */
function define(record: Record<string, unknown>, name: string, value: unknown): void {
  if (Array.isArray(record) && !/^\d+$/.test(name)) return;
  Object.defineProperty(record, name, { value, enumerable: true, writable: true, configurable: true });
}

function containersIn(value: unknown): Container[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Container, ...Object.values(value).flatMap(containersIn)];
}

function nested(value: unknown, choices: Choices): unknown {
  let outer = value;
  for (let depth = choices.pick([10, 126, 127, 128, 129, 500]); depth > 0; depth -= 1)
    outer = choices.once(2) ? [outer] : { a: outer };
  return { ...(typeof value === "object" && value), extra: outer };
}

/** Changes the bytes of a text: cuts, repeats, replaces, inserts or moves some bytes, or adds a second `model`. */
export function mutateBytes(bytes: Buffer, choices: Choices): Buffer<ArrayBuffer> {
  const at = choices.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + choices.below(40));
  const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
  switch (choices.below(7)) {
    case 0:
      return Buffer.concat([before]);
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, part, part, part, after]);
    case 3:
      return Buffer.concat([before, Buffer.from([choices.below(256)]), after]);
    case 4:
      return Buffer.concat([before, Buffer.from(choices.pick(TOKENS)), part, after]);
    case 5:
      return Buffer.concat([after, before]);
    default:
      return Buffer.concat([bytes.subarray(0, 1), Buffer.from('"model":"x",'), bytes.subarray(1)]);
  }
}

const TOKENS: readonly string[] = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "\\u",
  "\\ud800",
  "\0",
  "\r\n",
  "\r\n--edge",
  "--edge--",
  "\ufeff",
  "NaN",
  "1e999",
  "-",
  "/**/",
  "//",
  '"":',
  '"__proto__":{},',
];
