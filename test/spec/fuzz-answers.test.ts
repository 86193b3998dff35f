import { expect, test } from "bun:test";
import { fuzzAnswers } from "../battery/fuzz-answers.ts";

/* A fixed part of the random vendor responses. The battery tests hundreds of thousands. */
const SEED = 20_261;
const DIALECTS = ["chat", "messages", "responses", "native"];
const PAIRS = DIALECTS.flatMap((caller) => DIALECTS.map((vendor) => `${caller} of ${vendor}`));

test("whatever usage a vendor reports, the client's book is the ledger's: whole and streamed, in every pair", async () => {
  const { outcomes, violations } = await fuzzAnswers(1_000, SEED, 0, "usage");
  expect(violations).toEqual([]);
  expect(Object.keys(outcomes)).toEqual(
    expect.arrayContaining([
      ...PAIRS.flatMap((pair) => [`${pair}, whole`, `${pair}, stream`]),
      "embeddings of chat",
      "embeddings of native",
    ]),
  );
}, 180_000);

test("no answer of a vendor breaks the gateway, and each response has one charge within its hold", async () => {
  const { outcomes, violations } = await fuzzAnswers(1_000, SEED, 0, "anything");
  expect(violations).toEqual([]);
  expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(PAIRS.map((pair) => `${pair}, stream cut`)));
}, 180_000);
