import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";

describe.skipIf(chromium === null)("the console's jobs", () => {
  let console: TestConsole;
  const ids: string[] = [];
  beforeAll(async () => {
    // No worker, so that jobs wait until they are cancelled.
    console = await startTestConsole({ env: { JOBS_CONCURRENCY: "0" } });
    for (const prompt of ["A lighthouse", "<img src=x onerror=alert(1)>", "A harbour"]) {
      ids.push(await submit(console, prompt));
    }
    await console.signIn();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  test("waiting jobs are listed, and chosen ones are cancelled together", async () => {
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
    await tabTo(console, "Cancel 1 job");
    await console.page.keyboard.press("Enter");
    await console.see("1 job was told to stop");
    await console.see("Nothing was charged.");
    expect(await statusesOf(console, [id])).toEqual(["cancelled"]);
  });

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
    expect(await console.accessibilityFindings()).toEqual([]);
    expect(console.problems).toEqual([]);
    expect([...console.foreignHosts]).toEqual([]);
  });
});

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

/** Presses Tab until the element with a text has the focus. */
async function tabTo({ page }: TestConsole, text: string): Promise<void> {
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate("document.activeElement.innerText")) === text) return;
  }
  throw new Error(`no Tab leads to "${text}"`);
}
