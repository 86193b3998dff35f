import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { signIn, type Administrator } from "../support/administration.ts";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { readOptions } from "../support/program-options.ts";
import { startOpenAi } from "../upstreams/openai.ts";
import { takeJourneys } from "./journeys.ts";

/*
 * Takes the screenshots of the README and the documents again, from the demo. The overview is taken in both themes.
 * Look at the files before committing them. With `--journeys`, performs the console's journeys instead.
 */
const FOLDER = new URL("../../docs/images/", import.meta.url).pathname;
const SCREEN = { width: 1280, height: 800, deviceScaleFactor: 1.5 };
const QUALITY = 82;
const THEMES = { light: "", dark: "-dark" } as const;

const { journeys } = readOptions({
  command: "npm run pictures --",
  does: "Makes the pictures of the README and of the documents anew, from the demo.",
  options: {
    journeys: {
      type: "string",
      value: "FOLDER",
      help: "instead walk every journey in each language, theme and size, and leave pictures of the steps in this folder",
    },
  },
});
if (chromium === null) throw new Error("a browser must be installed");
const data = await mkdtemp(join(tmpdir(), "pictures-"));
try {
  const { stdout, stderr } = await runCommand(["demo"], {
    ...MACHINE,
    env: { GATEWAY_DATA_DIR: data },
    cwd: data,
  });
  const password = /with the password (\S+)/.exec(stdout)?.[1];
  if (password === undefined) throw new Error(stderr);
  const env = { GATEWAY_DATA_DIR: data, GATEWAY_ADMIN_PASSWORD: password, SANDBOX: "on" };
  await using shown = await startTestConsole({ env, viewport: SCREEN });
  const administrator = await signIn(shown.gateway, { name: "admin", password });
  if (journeys === undefined) await takePictures(shown, administrator, password);
  else {
    await using vendor = await startOpenAi();
    await takeJourneys({ shown, administrator, password, vendor }, journeys);
  }
} finally {
  await rm(data, { recursive: true });
}

async function takePictures(
  shown: TestConsole,
  administrator: Administrator,
  password: string,
): Promise<void> {
  const request = await prepare(shown, administrator);
  await shown.signIn("admin", password);
  for (const theme of ["light", "dark"] as const) {
    await shown.open("/");
    await shown.page.evaluate(`localStorage.setItem("gateway.theme", "${theme}")`);
    await takePicture(shown, "/?range=7d", `overview${THEMES[theme]}`);
    if (theme === "dark") continue;
    await takePicture(shown, `/requests/${request}`, "request");
    await shown.open("/playground?model=sandbox-a");
    await shown.fill("Prompt", "A lighthouse at dawn, seen from the sea");
    await shown.press("button", "Make it");
    await shown.page.waitForSelector("article img");
    await shown.page.waitForSelector("[data-bill] strong");
    await takeShown(shown, "playground");
  }
}

/**
 * Completes the first steps, because the overview's list of open steps would cover the figures. Returns the id of a
 * request that needed a second call.
 */
async function prepare(shown: TestConsole, { act }: Administrator): Promise<string> {
  await act("POST", "/alerts", { name: "Something is broken", settings: { kind: "status" } });
  await act("POST", "/channels", { id: "openai", provider: "openai", credential: "not-used" });
  const { secret } = await act("POST", "/keys", { organizationId: "storefront", name: "Pictures" });
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "Good morning" }] };
  for (let count = 0; count < 20; count++) {
    const authorization = `Bearer ${secret}`;
    const reply = await shown.gateway.call("/v1/chat/completions", { headers: { authorization }, body });
    await reply.text();
  }
  const { data } = await act("GET", "/requests?model=sandbox-a&limit=1000");
  const answered = data.find(
    ({ attempts, status }: { attempts: number; status: number }) => attempts === 2 && status === 200,
  );
  return answered.id;
}

async function takePicture(shown: TestConsole, path: string, name: string): Promise<void> {
  await shown.open(path);
  await takeShown(shown, name);
}

async function takeShown({ page }: TestConsole, name: string): Promise<void> {
  await page.evaluate("document.fonts.ready.then(() => {})");
  const picture = await page.screenshot();
  await sharp(picture)
    .webp({ quality: QUALITY })
    .toFile(join(FOLDER, `console-${name}.webp`));
  console.log(`console-${name}.webp`);
}
