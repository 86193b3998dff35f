import { expect, test } from "bun:test";
import { killUnderLoad } from "../battery/money-kills.ts";

const KILLS = 6;

test(`${KILLS} processes killed under load lose no charge, double none and keep nothing held`, async () => {
  expect(await killUnderLoad(KILLS)).toBe(true);
}, 60_000);
