import { expect, test } from "bun:test";
import { killUnderLoad } from "../battery/money-kills.ts";

const KILLS = 3;

test(`${KILLS} killed processes lose no charge, post none twice and hold nothing`, async () => {
  expect(await killUnderLoad(KILLS)).toBe(true);
}, 60_000);
