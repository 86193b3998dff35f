import { expect, test } from "bun:test";
import { isMasked, maskedAddress } from "./shown-address.ts";

test.each([
  ["https://hooks.example/services/T0/B0/x", "https://hooks.example/********"],
  ["https://hooks.example:8443/?token=x", "https://hooks.example:8443/********"],
  ["https://hooks.example/", "https://hooks.example/"],
  ["https://hooks.example", "https://hooks.example"],
  ["no address", "********"],
])("of %s is shown %s", (address, shown) => {
  expect(maskedAddress(address)).toBe(shown);
  expect(isMasked(address)).toBe(false);
});
