import { expect, test } from "bun:test";
import { CORPUS_DIRECTORY, judge, openCorpus } from "../support/picture-corpus.ts";

/* A sample of the pictures that `npm run battery -- --only pictures` reads whole. */
const STEP = 5;
const MAX_PACKAGE_BYTES = 5_000_000;
const MAX_BYTES = 100_000;
/** Their decoder takes half a second to start. */
const SLOW = /\.(?:tiff?|heic|avif|bmp)$/i;
const SLOW_ONES = 4;

const corpus = await openCorpus(MAX_PACKAGE_BYTES);
if (!corpus) console.warn(`skipped: no pictures in ${CORPUS_DIRECTORY}; .ci/pictures downloads them`);

test.skipIf(!corpus)(
  "pictures of other projects are read as another decoder reads them",
  async () => {
    await using pictures = corpus!;
    const slow = pictures.files.filter((file) => SLOW.test(file));
    const fast = pictures.files.filter((file) => !SLOW.test(file));
    const sample = [
      ...fast.filter((_, index) => index % STEP === 0),
      ...slow.filter((_, index) => index % Math.ceil(slow.length / SLOW_ONES) === 0),
    ];
    const problems: (string | null)[] = [];
    for (const file of sample) {
      const bytes = await pictures.read(file);
      if (bytes.length <= MAX_BYTES) problems.push(await judge(file, bytes));
    }
    expect(problems.length).toBeGreaterThan(50);
    expect(problems.filter((problem) => problem !== null)).toEqual([]);
  },
  60_000,
);
