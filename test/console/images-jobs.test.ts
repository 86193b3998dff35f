import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { HTTPRequest } from "puppeteer-core";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";
import { until } from "../support/gateway.ts";
import { tabTo } from "../support/keyboard.ts";

describe.skipIf(chromium === null)("pictures and jobs in the console", () => {
  let console: TestConsole;
  beforeAll(async () => {
    // The gateway itself runs no job, so a job waits until it is cancelled or a worker starts.
    console = await startTestConsole({ env: { JOBS_CONCURRENCY: "0" } });
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  /** Returns the fields in which a caller gets the picture for a requested response format. */
  async function delivered(responseFormat?: string): Promise<string> {
    const body = {
      model: "sandbox-c",
      prompt: "x",
      ...(responseFormat && { response_format: responseFormat }),
    };
    const response = await console.gateway.call("/v1/images/generations", { body });
    const { data } = (await response.json()) as { data: object[] };
    return Object.keys(data[0] ?? {})
      .sort()
      .join();
  }

  test("forcing links, by keys, changes what a caller gets", async () => {
    const { page } = console;
    expect([await delivered("b64_json"), await delivered()]).toEqual(["b64_json", "url"]);
    await console.open("/images");
    expect(await console.accessibilityFindings()).toEqual([]);
    await tabTo(page, "Not set");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(`document.querySelector("table").innerText.match(/Links/g).length === 3`);
    await tabTo(page, "Save");
    await page.keyboard.press("Enter");
    await console.see("The settings are saved");
    await until("the setting to be in force", async () =>
      (await delivered("b64_json")) === "url" ? true : undefined,
    );
    await choose(console, "Off");
    await until("the setting to be in force", async () =>
      (await delivered()) === "b64_json,url" ? true : undefined,
    );
    expect(await delivered("b64_json")).toBe("b64_json");
  });

  test("a fallback needs its time limit, and may name a channel", async () => {
    const { page } = console;
    await console.open("/images");
    await console.see("Fallback channel");
    await tabTo(page, "Cancel on timeout and use fallback");
    await page.keyboard.press("Space");
    await console.press("button", "Save");
    await console.see("This is needed");
    await console.fill("Time limit", "45");
    await console.page.keyboard.press("Tab");
    await console.press("button", "Save");
    await console.see("The settings are saved");
    const { settings } = JSON.parse(await console.gateway.cli("orgs", "show", "default", "--json"));
    expect(settings).toMatchObject({ fallbackAfterMs: 45_000, fallbackChannel: null });
  });

  test("links live as long as the organization says", async () => {
    await console.open("/images");
    await console.fill("Links are valid for", "2");
    // The field saves a number only when the field loses the focus.
    await console.page.keyboard.press("Tab");
    await console.press("button", "Save");
    await console.see("The settings are saved");
    const hours = await until("the setting to be in force", async () => {
      const response = await console.gateway.call("/v1/images/generations", {
        body: { model: "sandbox-c", prompt: "x", response_format: "url" },
      });
      const { data } = (await response.json()) as { data: { url: string }[] };
      const end = Number(new URL(data[0]!.url).searchParams.get("exp"));
      const left = Math.round((end - Date.now() / 1000) / 3600);
      return left === 2 ? left : undefined;
    });
    expect(hours).toBe(2);
  });

  test("delivered pictures are shown, and lead to their requests by keys", async () => {
    const { page, gateway } = console;
    await console.open("/images/gallery");
    await page.waitForFunction(
      `[...document.querySelectorAll("[role=row] img")].some(({ complete, naturalWidth }) => complete && naturalWidth > 0)`,
    );
    expect(await console.accessibilityFindings()).toEqual([]);
    const rows = await page.$$eval("[role=row]", (all) => all.map(({ ariaLabel }) => ariaLabel));
    expect(rows.every((name) => name === "Picture of sandbox-c, 1024×1024")).toBe(true);
    await tabTo(page, "Picture of sandbox-c, 1024×1024");
    await tabTo(page, "Open its request");
    await page.keyboard.press("Enter");
    await page.waitForFunction(`location.pathname.startsWith("/console/requests/")`);
    const id = new URL(page.url()).pathname.split("/").at(-1);
    const ids = (await gateway.ledger()).map((row) => row.id);
    expect(ids).toContain(id!);
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });

  const ids: string[] = [];
  test("waiting jobs are listed, and chosen ones are cancelled together", async () => {
    for (const prompt of ["A lighthouse", "<img src=x onerror=alert(1)>", "A harbour"])
      ids.push(await submit(console, prompt));
    await console.open("/jobs");
    await console.page.waitForSelector(`input[aria-label$="${ids[0]}"]`);
    expect(await console.accessibilityFindings()).toEqual([]);
    for (const id of ids.slice(0, 2)) await console.page.click(`label:has(input[aria-label$="${id}"])`);
    await console.press("button", "Cancel 2 jobs");
    await console.see("2 waiting jobs end at once, without a vendor call and without cost.");
    expect(await console.accessibilityFindings()).toEqual([]);
    const dialog = await console.find("alertdialog", "Cancel 2 jobs?");
    await (await dialog.waitForSelector("aria/Cancel 2 jobs[role='button']"))!.click();
    await console.see("2 jobs were told to stop");
    const statuses = await statusesOf(console, ids);
    expect(statuses).toEqual(["cancelled", "cancelled", "pending"]);
  });

  test("a job is cancelled on its own page, by keyboard alone", async () => {
    const id = ids[2]!;
    await console.open("/jobs");
    await console.page.waitForSelector(`input[aria-label$="${id}"]`);
    await focus(console, `tr[tabindex="0"]`);
    await console.page.keyboard.press("Enter");
    await console.find("heading", "Job");
    expect(new URL(console.page.url()).pathname).toBe(`/console/jobs/${id}`);
    await console.see("A job is charged when it completes");
    expect(await console.accessibilityFindings()).toEqual([]);
    await focus(console, "main button:has(svg.lucide-ban)");
    await console.page.keyboard.press("Enter");
    await console.find("alertdialog", "Cancel 1 job?");
    await tabTo(console.page, "Cancel 1 job");
    await console.page.keyboard.press("Enter");
    await console.see("1 job was told to stop");
    await console.see("Nothing was charged.");
    expect(await statusesOf(console, [id])).toEqual(["cancelled"]);
  });

  let ended = "";
  test("a job's end is seen without asking again, with its pictures and its cost", async () => {
    const prompts = ["A lighthouse", "Another one"];
    const jobs = await Promise.all(prompts.map((prompt) => submit(console, prompt, 2)));
    await console.open(`/jobs/${jobs[0]}`);
    await console.see("Pictures appear here when the job completes.");
    await using _worker = await console.gateway.startWorker();
    await console.see("Completed");
    await console.page.waitForSelector('img[alt="Picture 2"]');
    expect(await console.page.$$("main img")).toHaveLength(2);
    await console.see("Pictures, 1K medium");
    ended = jobs[0]!;
    expect(await console.accessibilityFindings()).toEqual([]);
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });

  test("the cost of a job is not called nothing while its request is unread", async () => {
    const { page } = console;
    const held = Promise.withResolvers<HTTPRequest>();
    const hold = (request: HTTPRequest) =>
      request.url().includes(`/requests/${ended}`) ? held.resolve(request) : void request.continue();
    await page.setRequestInterception(true);
    page.on("request", hold);
    const opened = console.open(`/jobs/${ended}`);
    const request = await held.promise;
    await page.waitForSelector('img[alt="Picture 2"]');
    expect(await page.$eval("main", ({ innerText }) => innerText)).not.toContain("Nothing was charged");
    await request.respond({ status: 400, contentType: "application/json", body: "{}" });
    await opened;
    await console.find("button", "Try again");
    expect(await page.$eval("main", ({ innerText }) => innerText)).not.toContain("Nothing was charged");
    page.off("request", hold);
    await page.setRequestInterception(false);
  });
});

/** Selects one of three states and saves. */
async function choose({ page, press, see, find }: TestConsole, label: string): Promise<void> {
  await (await find("radio", label)).evaluate((radio) => (radio as unknown as { click(): void }).click());
  await press("button", "Save");
  await page.waitForFunction(`!document.querySelector("form button[type=submit]:not([disabled])")`);
  await see("The settings are saved");
}

async function submit({ gateway }: TestConsole, prompt: string, n = 1): Promise<string> {
  const response = await gateway.call("/api/jobs", { body: { model: "sandbox-a", prompt, n } });
  return ((await response.json()) as { id: string }).id;
}

async function statusesOf({ gateway }: TestConsole, ids: readonly string[]): Promise<unknown[]> {
  return Promise.all(
    ids.map(async (id) => {
      const job = (await (await gateway.call(`/api/jobs/${id}`)).json()) as { status: string };
      return job.status;
    }),
  );
}

async function focus({ page }: TestConsole, selector: string): Promise<void> {
  await page.waitForSelector(selector);
  await page.focus(selector);
}
