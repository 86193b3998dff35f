import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { chord, tabTo } from "../support/keyboard.ts";
import { makePng } from "../support/pictures.ts";
import { until } from "../support/gateway.ts";

const HOSTILE = `A pier <img src=x onerror="window.broken = true">`;
const RED = [200, 30, 30] as const;
const BLUE = [30, 30, 200] as const;
const SIDE = 256;

describe.skipIf(chromium === null)("the playground's pictures", () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startTestConsole();
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  test("the first picture is made by keyboard alone and costs what was shown before", async () => {
    const { page } = console;
    await console.open("/playground?model=sandbox-a");
    expect(await console.accessibilityFindings()).toEqual([]);
    await tabTo(page, "Prompt");
    await page.keyboard.type(HOSTILE);
    await tabTo(page, "Quality");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[role=listbox]");
    await page.keyboard.type("high");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[role=listbox]", { hidden: true });
    await console.see("$0.04");
    const before = await priceOf(console);
    await tabTo(page, "Make it");
    await page.keyboard.press("Enter");
    await resultOf(console);
    const bill = await billOf(console);
    expect([before, bill]).toEqual(["$0.04", "$0.04"]);
    expect((await newestCharge(console)).amount).toBe(40_000_000n);
    expect(await console.accessibilityFindings()).toEqual([]);
  });

  test("what was tried stays text, and fills the form again", async () => {
    const { page } = console;
    await console.open("/playground?model=sandbox-a");
    await console.see(HOSTILE);
    expect(await page.evaluate("document.querySelector('img[src=x]') ?? window.broken ?? 'text'")).toBe(
      "text",
    );
    await page.click("li button");
    await page.waitForFunction(`document.querySelector("textarea").value === ${JSON.stringify(HOSTILE)}`);
    await resultOf(console);
    expect(await billOf(console)).toBe("$0.04");
  });

  test("a model's own options are offered and no others", async () => {
    const labels = async (model: string): Promise<string[]> => {
      await console.open(`/playground?model=${model}`);
      await console.see("Size");
      return (await console.page.$$eval("form label, form [slot=label], form span", (all) =>
        all.map(({ innerText }) => innerText),
      )) as string[];
    };
    expect(await labels("sandbox-a")).toEqual(expect.arrayContaining(["Quality", "Background", "0 of 16"]));
    const ofD = await labels("sandbox-d-fast");
    expect(ofD).toEqual(expect.arrayContaining(["Size", "Aspect ratio", "0 of 1"]));
    expect(ofD.filter((label) => ["Quality", "Background"].includes(label))).toEqual([]);
  });

  test("references are reordered by keys and by drag, and a painted mask alone is changed", async () => {
    const { page } = console;
    await console.open("/playground?model=sandbox-a");
    await pasteFile(console, "blue.png", BLUE);
    await console.see("1 of 16");
    await chooseFiles(console, { "red.png": RED });
    await console.see("2 of 16");
    await tabTo(page, "Picture 1: blue.png");
    await page.keyboard.press("ArrowRight");
    await tabTo(page, "Move picture 2 earlier");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[aria-label='Picture 1: red.png']");
    await dragToTheEnd(console);
    await page.waitForSelector("[aria-label='Picture 1: blue.png']");
    await dragToTheEnd(console);
    await page.waitForSelector("[aria-label='Picture 1: red.png']");
    await console.press("button", "Paint a mask");
    await paintByKeys(console);
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.press("button", "Use this mask");
    await console.fill("Prompt", "Make it green");
    await console.press("button", "Make it");
    await resultOf(console);
    const picture = await pixelsOf(console);
    // The first reference is now the red picture, so unpainted parts must stay red.
    expect(picture.at(0.1, 0.1)).toEqual([...RED]);
    expect(picture.at(0.9, 0.9)).toEqual([...RED]);
    expect(picture.at(0.5, 0.5)).not.toEqual([...RED]);
    expect(picture.at(0.75, 0.5)).not.toEqual([...RED]);
    expect(picture.at(0.5, 0.9)).toEqual([...RED]);
  });

  test("two models are compared, each with its price and bill", async () => {
    const { page } = console;
    await console.open("/playground?model=sandbox-c&with=sandbox-d-fast");
    await console.fill("Prompt", "Two harbours");
    await console.press("button", "Make it");
    await page.waitForFunction(`document.querySelectorAll("[data-bill] strong").length === 2`);
    const bills = await page.$$eval("[data-bill] strong", (all) => all.map(({ textContent }) => textContent));
    const prices = await page.$$eval("[data-price] strong", (all) =>
      all.map(({ textContent }) => textContent),
    );
    expect(bills).toEqual(prices);
    expect(await page.$$eval("article img", (all) => all.length)).toBe(2);
  });

  test("the code shown makes the same request; its colours change nothing that is copied", async () => {
    const { page, gateway } = console;
    await console.open("/playground?model=sandbox-c");
    await console.fill("Prompt", "It's a harbour\nwith $HOME in it");
    await console.press("button", "Show as code");
    for (const tab of ["curl", "Python", "TypeScript"]) {
      await console.press("tab", tab);
      await page.waitForSelector("[role=tabpanel] code span");
      await page.evaluate("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }");
      await console.press("button", "Copy");
      const shown = await page.$eval("pre", ({ textContent }) => textContent);
      await page.waitForFunction(`globalThis.copied === ${JSON.stringify(shown)}`);
      for (const theme of ["light", "dark"]) {
        await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
        expect(await console.accessibilityFindings()).toEqual([]);
      }
    }
    await console.press("tab", "curl");
    const curl = await page.$eval("pre", ({ innerText }) => innerText);
    const response = (await run(["bash", "-c", `${curl} -s`], gateway.key)) as { data: { url: string }[] };
    await console.press("tab", "TypeScript");
    const script = await page.$eval("pre", ({ innerText }) => innerText);
    const printing = script.replace(/console\.log\((.*)\);$/, "console.log(JSON.stringify($1));");
    const same = (await run([process.execPath, "-e", printing], gateway.key)) as typeof response;
    const pictures = [response, same].map(({ data }) => fetch(data[0]!.url).then((each) => each.bytes()));
    const [one, other] = await Promise.all(pictures);
    expect(Bun.hash(one!)).toBe(Bun.hash(other!));
    await console.press("button", "Make it");
    await resultOf(console);
    const shown = await page.$eval("article img" as "img", (image) => image.currentSrc);
    expect(Bun.hash(await (await fetch(shown)).bytes())).toBe(Bun.hash(one!));
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });
});

/** Waits until a picture is completely loaded. */
async function resultOf({ page }: TestConsole): Promise<void> {
  await page.waitForFunction(
    `[...document.querySelectorAll("article img")].some(({ complete, naturalWidth }) => complete && naturalWidth > 0)`,
  );
}

async function priceOf({ page }: TestConsole): Promise<string | null> {
  return await page.$eval("[data-price] strong", ({ textContent }) => textContent);
}

async function billOf({ page }: TestConsole): Promise<string | null> {
  const bill = await page.waitForSelector("[data-bill] strong");
  return await bill!.evaluate(({ textContent }) => textContent);
}

async function newestCharge({ gateway }: TestConsole) {
  return await until("the charge", async () => (await gateway.ledger()).at(-1));
}

async function chooseFiles(
  { page, press, gateway }: TestConsole,
  files: Record<string, readonly [number, number, number]>,
): Promise<void> {
  const paths = await Promise.all(
    Object.entries(files).map(async ([name, colour]) => {
      const path = `${gateway.dataDirectory}/${name}`;
      await Bun.write(path, makePng(SIDE, SIDE, { pixel: () => [...colour, 255] }));
      return path;
    }),
  );
  const [chooser] = await Promise.all([page.waitForFileChooser(), press("button", "Choose files")]);
  await chooser.accept(paths);
}

/** Drags the first of two pictures behind the second. */
async function dragToTheEnd({ page }: TestConsole): Promise<void> {
  const [first, second] = await page.$$("[role=row]");
  const from = (await first!.boundingBox())!;
  const to = (await second!.boundingBox())!;
  const y = from.y + from.width / 2;
  await page.mouse.move(from.x + from.width / 2, y);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, y, { steps: 6 });
  await page.mouse.move(to.x + to.width - 8, y, { steps: 3 });
  await page.waitForSelector("[data-drop-target]");
  await page.mouse.up();
}

async function pasteFile(
  { page }: TestConsole,
  name: string,
  colour: readonly [number, number, number],
): Promise<void> {
  const picture = makePng(SIDE, SIDE, { pixel: () => [...colour, 255] }).toString("base64");
  await page.evaluate(`(() => {
    const bytes = Uint8Array.from(atob("${picture}"), (letter) => letter.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], "${name}", { type: "image/png" }));
    document.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  })()`);
}

/** Paints by keyboard from the middle to the right edge. */
async function paintByKeys({ page }: TestConsole): Promise<void> {
  await page.waitForSelector("canvas");
  await tabTo(page, "Picture to paint over");
  await page.keyboard.press("Space");
  for (let step = 0; step < 4; step++) await chord(page, "Shift", "ArrowRight");
  await page.keyboard.press("Space");
}

/** Reads pixels of the shown picture in the browser. Positions are fractions of the picture's width and height. */
async function pixelsOf({ page }: TestConsole) {
  const { width, height, data } = (await page.evaluate(`(async () => {
    const image = document.querySelector("article img");
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { width, height, data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return { width, height, data: btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join("")) };
  })()`)) as { width: number; height: number; data: string };
  const bytes = Buffer.from(data, "base64");
  return {
    at(x: number, y: number): number[] {
      const index = (Math.floor(y * height) * width + Math.floor(x * width)) * 4;
      return [...bytes.subarray(index, index + 3)];
    },
  };
}

async function run(command: string[], key: string): Promise<unknown> {
  const child = Bun.spawn(command, {
    env: { PATH: process.env["PATH"] ?? "", GATEWAY_KEY: key },
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (output === "") throw new Error(errors);
  return JSON.parse(output);
}
