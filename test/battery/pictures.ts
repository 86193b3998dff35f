import { GatewayError } from "../../src/domain/gateway-error.ts";
import { readReference } from "../../src/imaging/reference.ts";
import { createSemaphore } from "../../src/lib/semaphore.ts";
import { judge, openCorpus, type PictureCorpus } from "./picture-corpus.ts";
import { required } from "./setting.ts";

/**
 * Compares the gateway's reading of the corpus with another decoder's. About a hundred cut pictures must be refused.
 */
export async function readCorpus(): Promise<{ what: string; violations: string[] }> {
  await using corpus = required(
    (await openCorpus()) ?? { missing: "there are no pictures: run test/battery/pictures.sh" },
  );
  const violations: string[] = [];
  for (const file of corpus.files) {
    const problem = await judge(file, await corpus.read(file));
    if (problem) violations.push(problem);
  }
  const cut = await readCut(corpus, violations);
  return { what: `${corpus.files.length} pictures, ${cut} cut ones`, violations };
}

const CUTS = 100;
/**
 * Shares of a file that remain after a cut. A picture needs more, even if other data follows the picture in the file.
 */
const SHARES = [0.3, 0.5, 0.7];
const slots = createSemaphore(2);

async function readCut(corpus: PictureCorpus, violations: string[]): Promise<number> {
  const files = corpus.files.filter((file) =>
    /hopper[^/]*\.(?:png|jpe?g|webp|gif|bmp|tif)$|\.heic$/.test(file),
  );
  let count = 0;
  for (const file of files.filter(
    (_, index) => index % Math.ceil((files.length * SHARES.length) / CUTS) === 0,
  ))
    for (const share of SHARES) {
      const bytes = await corpus.read(file);
      const image = new Blob([bytes.subarray(0, Math.floor(bytes.length * share))]);
      const outcome = await readReference(image, { param: "image", name: "image", slots }).catch(
        (error: unknown) => error,
      );
      count += 1;
      if (!(outcome instanceof GatewayError))
        violations.push(`${file} is accepted when ${share} of it is left`);
    }
  return count;
}
