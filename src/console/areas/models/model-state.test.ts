import { expect, test } from "bun:test";
import { isEnabled, withModel } from "./model-state.tsx";

test("disabling one model of all keeps later ones enabled, and enabling it again returns to all", () => {
  const without = withModel("*", "house", false);
  expect(without).toEqual({ except: ["house"] });
  expect(isEnabled(without, "house")).toBe(false);
  expect(isEnabled(without, "other")).toBe(true);
  expect(withModel(without, "house", true)).toBe("*");
});

test("a list of models loses and gains one", () => {
  expect(withModel(["a", "b"], "a", false)).toEqual(["b"]);
  expect(withModel(["b"], "a", true)).toEqual(["b", "a"]);
  expect(withModel(["a"], "a", true)).toEqual(["a"]);
  expect(isEnabled(["b"], "a")).toBe(false);
});

test("one exception beside others is added and taken back", () => {
  expect(withModel({ except: ["a"] }, "b", false)).toEqual({ except: ["a", "b"] });
  expect(withModel({ except: ["a", "b"] }, "b", true)).toEqual({ except: ["a"] });
});
