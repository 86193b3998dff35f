import { describe, expect, test } from "bun:test";
import type { ResolvedSize } from "../../domain/image.ts";
import type { StreamedObject } from "../../lib/json-spool.ts";
import { repeatRequest } from "./repeat.ts";

const SQUARE: ResolvedSize = {
  tier: "1K",
  ratio: "1:1",
  width: 1024,
  height: 1024,
  isAuto: true,
  isShapeFree: true,
};
const contents = [{ role: "user", parts: [{ text: "A fox" }] }];

function repeat(native: StreamedObject, resolved: Partial<ResolvedSize> = {}, demandsRoles = false) {
  return repeatRequest(native, { references: [], size: { ...SQUARE, ...resolved } }, { demandsRoles });
}

describe("a turn without a role", () => {
  const bare: StreamedObject[] = [{ parts: [{ text: "A fox" }] }, { role: "model", parts: [{ text: "?" }] }];

  test("is unchanged where the vendor accepts it", () => {
    expect(repeat({ contents: bare })).toEqual({ contents: bare });
  });

  test("gets the role of the user where the vendor demands one", () => {
    const said: StreamedObject[] = [{ parts: [{ text: "A fox" }], role: "user" }, bare[1]!];
    expect(repeat({ contents: bare }, {}, true)).toEqual({ contents: said });
  });
});

describe("a model that does not make the vendor's usual tier", () => {
  test("gets its own tier where the caller named none", () => {
    const generationConfig = { imageConfig: { imageSize: "2K" } };
    expect(repeat({ contents }, { tier: "2K" })).toEqual({ contents, generationConfig });
  });

  test("gets the tier under the field names of the caller", () => {
    const native = { contents, generation_config: { seed: 1, image_config: { aspect_ratio: "1:1" } } };
    const image_config = { aspect_ratio: "1:1", imageSize: "2K" };
    expect(repeat(native, { tier: "2K" })).toEqual({
      contents,
      generation_config: { seed: 1, image_config },
    });
  });
});

test("the caller's body itself is never changed", () => {
  const native = { contents, generationConfig: { imageConfig: { imageSize: "4k", aspectRatio: "2:1" } } };
  const before = structuredClone(native);
  repeat(native, { tier: "4K", ratio: "16:9" }, true);
  expect(native).toEqual(before);
});
