import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Viewport } from "puppeteer-core";
import type { Administrator } from "../support/administration.ts";
import { PHONE, type TestConsole } from "../support/browser.ts";
import { layoutFindings, TEXTS, type ShownLanguage } from "../support/layout.ts";
import { SIMULATED_KEY } from "../upstreams/openai.ts";
import type { Simulator } from "../upstreams/simulator.ts";

/** The environment of a journey: the demo in a browser, and a vendor that a journey connects. */
interface JourneyWorld {
  shown: TestConsole;
  administrator: Administrator;
  password: string;
  vendor: Simulator;
}

const SCREENS: Readonly<Record<string, Viewport>> = {
  // The phone has no touch screen, because changing that setting reloads the page in the middle of a step.
  phone: { width: PHONE.width, height: PHONE.height },
  small: { width: 1024, height: 768 },
  wide: { width: 1600, height: 1000 },
};
const THEMES = ["light", "dark"] as const;
const MAX_HEIGHT = 3_000;
const TIMEOUT_MS = 60_000;

/**
 * Performs every journey in both languages, and takes screenshots of each step for people to look at. Each screenshot
 * is taken in both themes and three sizes. Prints findings of the layout check, and steps that failed.
 */
export async function takeJourneys(world: JourneyWorld, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  world.shown.page.setDefaultTimeout(TIMEOUT_MS);
  for (const language of ["en", "zh"] as const) {
    const walk = openWalk(world, language, folder);
    for (const [name, step] of JOURNEYS) {
      try {
        await world.shown.signIn("admin", world.password);
        await step(walk);
      } catch (error) {
        console.log(`${language} ${name}: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
        await walk.shoot(`${name}-stopped`).catch(() => {});
      }
    }
  }
}

interface Walk extends JourneyWorld {
  language: ShownLanguage;
  /** Returns a text of the console in the language of this walk. */
  text(area: string, name: string, values?: Readonly<Record<string, string>>): string;
  /** Opens a page in the language of this walk. */
  open(path: string): Promise<void>;
  /** Takes screenshots of the shown page, in both themes and all sizes. */
  shoot(name: string): Promise<void>;
}

function openWalk(world: JourneyWorld, language: ShownLanguage, folder: string): Walk {
  const { shown } = world;
  const { page } = shown;
  const said = new Set<string>();
  const text: Walk["text"] = (area, name, values = {}) => {
    const found = TEXTS[language][area]?.[name];
    if (found === undefined) throw new Error(`there is no text ${area} ${name}`);
    return found.replace(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? "");
  };
  return {
    ...world,
    language,
    text,
    async open(path) {
      await page.setViewport(SCREENS["wide"]!);
      await page.evaluateOnNewDocument(`localStorage.setItem("gateway.language", "${language}")`);
      await shown.open(path);
    },
    async shoot(name) {
      for (const [screen, viewport] of Object.entries(SCREENS)) {
        await page.setViewport(viewport);
        for (const theme of THEMES) {
          await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
          await page.evaluate(`window.dispatchEvent(new Event("themechange"))`);
          await page.evaluate(SETTLED);
          if (theme === "light")
            for (const finding of await layoutFindings(page, language)) {
              const line = `${language} ${screen} ${name}: ${finding}`;
              if (!said.has(line)) console.log(line);
              said.add(line);
            }
          const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
          const clip = { x: 0, y: 0, width: viewport.width, height: Math.min(height, MAX_HEIGHT) };
          const isDialog = Boolean(await page.$("section[role$=dialog], [role=listbox], [role=menu]"));
          const picture = await page.screenshot(isDialog ? {} : { clip, captureBeyondViewport: true });
          await Bun.write(join(folder, `${name}.${language}.${screen}.${theme}.png`), picture);
        }
      }
      await page.setViewport(SCREENS["wide"]!);
      await page.evaluate(`delete document.documentElement.dataset.theme`);
      for (const problem of shown.problems.splice(0)) console.log(`${language} ${name}: ${problem}`);
    },
  };
}

/** Resolves 150 ms after fonts are loaded and two frames were drawn. */
const SETTLED = `document.fonts.ready
  .then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  .then(() => new Promise((done) => setTimeout(done, 150)))`;

type Step = (walk: Walk) => Promise<void>;

const page =
  (path: string, name: string): Step =>
  async ({ open, shoot }) => {
    await open(path);
    await shoot(name);
  };

const signIn: Step = async ({ shown, text, open, shoot }) => {
  await shown.endSession();
  await open("/");
  await shoot("sign-in");
  await shown.fill(text("signIn", "name"), "admin");
  await shown.fill(text("signIn", "password"), "not the password");
  await shown.page.keyboard.press("Enter");
  await shown.page.waitForSelector("[role=alert]");
  await shoot("sign-in-wrong");
};

const connect: Step = async ({ shown, text, open, shoot, vendor, language }) => {
  const id = `house-${language}`;
  await open("/models/providers");
  await shoot("channels");
  await open("/models/providers/add");
  await shoot("channel-vendors");
  await open("/models/providers/add?provider=openai");
  await shown.fill(text("providers", "form.id"), id);
  await shown.fill(text("providers", "form.credential"), "sk-wrong-credential");
  await shown.fill(text("providers", "form.baseUrl"), `${vendor.url}/v1`);
  await shown.press("button", text("providers", "test"));
  await shown.see(text("providers", "test.failed"));
  await shoot("channel-test-failed");
  await shown.press("button", text("providers", "form.create"));
  await shown.find("heading", text("providers", "form.anyway.title"));
  await shoot("channel-anyway");
  await shown.press("button", text("shell", "cancel"));
  await shown.untilClosed();
  await shown.fill(text("providers", "form.credential"), SIMULATED_KEY);
  await shown.press("button", text("providers", "test"));
  await shown.see(text("providers", "test.ok"));
  await shown.press("button", text("providers", "form.create"));
  await shown.find("heading", id);
  await shoot("channel-connected");
};

const chooseModel: Step = async ({ shown, text, open, shoot, language, administrator }) => {
  const house = `house-${language}`;
  await administrator.send("POST", "/channels", { id: "bfl", provider: "bfl", credential: "not-used" });
  await open("/models");
  await shoot("models");
  await shown.press("button", text("models", "add"));
  await shown.fill(text("models", "form.id"), `acme/chat-${language}`);
  await shoot("model-new");
  const channel = text("models", "form.channel");
  await shown.press("button", `${text("shell", "choose")} ${channel}`);
  await shown.press("option", `${house} openai`);
  await shown.press("button", `${text("models", "vendor.list")} ${text("models", "form.upstream")}`);
  await shown.find("option", "gpt-5.4");
  await shoot("model-vendor-list");
  await shown.press("option", "gpt-5.4");
  await shown.press("button", `${house} ${channel}`);
  await shown.press("option", "bfl bfl");
  await shown.see(text("models", "vendor.noList", { vendor: "Black Forest Labs" }));
  await shoot("model-no-list");
  await shown.press("button", `bfl ${channel}`);
  await shown.press("option", `${house} openai`);
  await shown.fill(text("models", "form.upstream"), "gpt-5.4");
  await shown.press("button", text("shell", "save"));
  await shown.see(text("models", "form.saved"));
  await shoot("model-saved");
};

const makeKey: Step = async ({ shown, text, open, shoot, language }) => {
  await open("/keys");
  await shoot("keys");
  await open("/keys/new?organization=storefront");
  await shoot("key-new");
  await shown.fill(text("keys", "form.name"), `Checkout of the web shop ${language}`);
  await shown.fill(text("keys", "form.budget"), "12.5");
  await shown.press("button", text("keys", "form.submit"));
  await shown.find("heading", text("keys", "secret.title"));
  await shoot("key-secret");
  await shown.press("button", text("shell", "copy"));
  await shown.press("button", text("shell", "secret.done"));
  await shown.untilClosed();
  await shoot("key");
  await shown.press("button", text("keys", "remove"));
  await shown.page.waitForSelector("section[role$=dialog]");
  await shoot("key-remove");
};

const play: Step = async ({ shown, text, open, shoot }) => {
  await open("/playground?model=sandbox-a");
  await shoot("playground");
  await shown.fill(text("playground", "prompt"), "A lighthouse at dawn, seen from the sea");
  await shown.press("button", text("playground", "submit.image"));
  await shown.page.waitForSelector("article img");
  await shown.page.waitForSelector("[data-bill] strong");
  await shoot("playground-result");
  await open("/playground/chat");
  await shown.fill(text("playground", "message"), "What is a lighthouse for?");
  await shown.press("button", text("playground", "send"));
  await shown.page.waitForSelector("[data-bill] strong, [data-turn-bill]").catch(() => {});
  await shoot("playground-chat");
};

const findRequest: Step = async ({ shown, open, shoot, administrator }) => {
  const { data } = await administrator.act("GET", "/requests?limit=500");
  const of = (fits: (row: { attempts: number; status: number; model: string | null }) => boolean) =>
    (data as { id: string; attempts: number; status: number; model: string | null }[]).find(fits)?.id;
  await open("/requests");
  await shoot("requests");
  await open("/requests?status=5xx");
  await shoot("requests-failed");
  const ids = {
    "request-second": of(({ attempts, status }) => attempts === 2 && status === 200),
    "request-failed": of(({ status }) => status >= 500),
    "request-text": of(({ model, status }) => model === "sandbox-chat" && status === 200),
  };
  for (const [name, id] of Object.entries(ids)) {
    if (id === undefined) throw new Error(`there is no ${name}`);
    await open(`/requests/${id}`);
    await shoot(name);
  }
  await open("/requests/req_0123456789abcdef0123456789abcdef");
  await shoot("request-unknown");
  await shown.page.keyboard.down("Control");
  await shown.page.keyboard.press("k");
  await shown.page.keyboard.up("Control");
  await shown.page.waitForSelector("[role=dialog]");
  await shown.page.keyboard.sendCharacter("sand");
  await shoot("palette");
};

const changePrice: Step = async ({ shown, text, open, shoot }) => {
  await open("/models/prices");
  await shoot("prices");
  await open("/models/prices?model=sandbox-a");
  await shoot("price");
  await shown.press("button", text("prices", "add"));
  await shown.find("dialog", text("prices", "add.title", { model: "sandbox-a" }));
  await shoot("price-change");
  await shown.fill("low", "0.9");
  await shown.see("0.90");
  await shoot("price-consequences");
  await open("/models/prices?model=sandbox-chat");
  await shoot("price-text");
};

const route: Step = async ({ shown, text, open, shoot, language }) => {
  await open("/models/detail?model=sandbox-chat&organization=storefront");
  await shoot("model");
  const channel = text("models", "route.channel");
  await shown.press("button", `${text("models", "route.channel.none")} ${channel}`);
  await shown.press("option", `house-${language} openai`);
  await shown.fill(text("models", "route.upstream"), "gpt-5.4");
  await shown.press("button", text("models", "route.add"));
  await shown.see(text("models", "route.unsaved"));
  await shoot("route-draft");
  await open("/models/detail?model=sandbox-a");
  await shoot("model-image");
};

const conflict: Step = async ({ shown, text, open, shoot, administrator }) => {
  await open("/settings");
  await shoot("organizations");
  await shown.press("button", text("settings", "actions", { name: "Research" }));
  await shoot("organization-menu");
  await open("/settings");
  await shown.press("button", text("settings", "actions", { name: "Research" }));
  await shown.press("menuitem", text("settings", "organization.edit"));
  await shown.fill(text("shell", "limit.requestsPerMinute"), "88");
  await shoot("organization-edit");
  const runningJobs = Math.round(1 + Math.random() * 1_000_000);
  await administrator.act("PATCH", "/organizations/research", { limits: { runningJobs } });
  await shown.press("button", text("shell", "save"));
  await shown.see(text("shell", "conflict.reload"));
  await shoot("conflict");
};

const alert: Step = async ({ shown, text, open, shoot, administrator, language }) => {
  const name = `All trouble ${language}`;
  await open("/settings/alerts");
  await shoot("alerts");
  await shown.press("button", text("alerts", "create"));
  await shoot("alert-new");
  const rule = { name, settings: { kind: "budget", percents: [1] }, emails: ["ops@example.org"] };
  const { id } = await administrator.act("POST", "/alerts", rule);
  for (let turn = 0; turn < 60; turn += 1) {
    const { data } = await administrator.act("GET", "/alert-events?state=open");
    if (data.some(({ alertId }: { alertId: string }) => alertId === id)) break;
    await Bun.sleep(500);
  }
  await open("/settings/alerts");
  await shoot("alert-found");
  await administrator.act("PATCH", `/alerts/${id}`, { isDisabled: true });
  await open("/settings/alerts");
  await shoot("alert-disabled");
  await open("/");
  await shoot("overview-attention");
};

const smallRole: Step = async ({ shown, open, shoot, administrator, language, text }) => {
  const own = { name: `vera-${language}`, password: "a-long-enough-password" };
  await administrator.act("POST", "/members", { ...own, role: "viewer", organizations: ["marketing"] });
  await open("/settings/members");
  await shoot("members");
  await shown.press("button", text("settings", "members.create"));
  await shown.page.waitForSelector("section[role$=dialog]");
  await shoot("member-new");
  await shown.signIn(own.name, own.password);
  for (const [path, name] of [
    ["/", "viewer-overview"],
    ["/keys", "viewer-keys"],
    ["/keys/new", "viewer-refused"],
    ["/money", "viewer-money"],
    ["/models/detail?model=sandbox-chat", "viewer-model"],
  ] as const) {
    await open(path);
    await shoot(name);
  }
};

const sessionEnds: Step = async ({ shown, text, open, shoot }) => {
  await open("/keys/new?organization=storefront");
  await shown.fill(text("keys", "form.name"), "Written before");
  await shown.endSession();
  await shown.press("button", text("keys", "form.submit"));
  await shown.find("heading", text("signIn", "ended"));
  await shoot("session-ended");
};

const databaseAway: Step = async ({ shown, text, open, shoot }) => {
  const { page } = shown;
  const answer: Parameters<typeof page.on<"request">>[1] = async (request) => {
    if (!request.url().includes("/admin/v1/")) return void (await request.continue());
    const error = { type: "dependency_unavailable", message: "the database is unavailable", field: null };
    await request.respond({ status: 503, contentType: "application/json", body: JSON.stringify({ error }) });
  };
  await open("/keys");
  await page.setRequestInterception(true);
  page.on("request", answer);
  try {
    await page.evaluate(`document.querySelector('a[href="/console/jobs"]').click()`);
    await shown.see(text("shell", "failed.title"));
    // This step causes errors on purpose.
    shown.problems.length = 0;
    await shoot("database-away-list");
    await open("/jobs");
    await shown.find("heading", text("shell", "away.database"));
    shown.problems.length = 0;
    await shoot("database-away");
  } finally {
    page.off("request", answer);
    await page.setRequestInterception(false);
    shown.problems.length = 0;
  }
};

const budgets: Step = async ({ shown, text, open, shoot, administrator }) => {
  await open("/money");
  await shoot("budgets");
  await shown.press("button", text("money", "budgets.create"));
  await shown.page.waitForSelector("section[role$=dialog]");
  await shoot("budget-new");
  await open("/money/usage?range=30d&by=key");
  await shoot("usage-keys");
  await open("/money/usage?range=7d&step=day");
  await shoot("usage-models");
  await shown.press("button", text("shell", "export"));
  await shoot("usage-export");
  await open("/money/ledger");
  await shoot("ledger");
  const { data } = await administrator.act("GET", "/ledger?limit=1");
  await open(`/money/ledger?entry=${data[0].id}`);
  await shown.page.waitForSelector("section[role$=dialog]");
  await shoot("ledger-entry");
};

const audit: Step = async ({ shown, open, shoot }) => {
  await open("/settings/audit");
  await shoot("audit");
  await shown.page.click("tbody tr[data-index]");
  await shown.page.waitForSelector("section[role$=dialog]");
  await shoot("audit-change");
};

const prompts: Step = async ({ shown, text, open, shoot, administrator, language }) => {
  await administrator.act("PATCH", "/organizations/storefront", { settings: { promptLogDays: 7 } });
  const { secret } = await administrator.act("POST", "/keys", {
    organizationId: "storefront",
    name: `Kept ${language}`,
  });
  await Bun.sleep(2_000);
  const headers = { authorization: `Bearer ${secret}`, "x-request-id": `kept-${language}` };
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: "What is a lighthouse for?" }] };
  await (await shown.gateway.call("/v1/chat/completions", { headers, body })).text();
  await Bun.sleep(2_000);
  await open(`/requests/kept-${language}`);
  await shown.press("button", text("requests", "prompt.show"));
  await shown.find("link", text("requests", "prompt.try"));
  await shoot("prompt");
};

const JOURNEYS: readonly (readonly [name: string, step: Step])[] = [
  ["sign-in", signIn],
  ["overview", page("/?range=7d", "overview")],
  ["overview-hour", page("/?range=1h", "overview-hour")],
  ["connect", connect],
  ["choose-model", chooseModel],
  ["key", makeKey],
  ["playground", play],
  ["request", findRequest],
  ["budgets", budgets],
  ["price", changePrice],
  ["route", route],
  ["conflict", conflict],
  ["prompts", prompts],
  ["audit", audit],
  ["alert", alert],
  ["jobs", page("/jobs", "jobs")],
  ["images", page("/images", "images")],
  ["gallery", page("/images/gallery", "gallery")],
  ["webhooks", page("/settings/webhooks", "webhooks")],
  ["configuration", page("/settings/configuration", "configuration")],
  ["account", page("/settings/account", "account")],
  ["own-key", page("/key", "own-key")],
  ["small-role", smallRole],
  ["session", sessionEnds],
  ["away", databaseAway],
];
