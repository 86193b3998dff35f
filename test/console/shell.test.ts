import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";

describe.skipIf(chromium === null)("the console's shell", () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startTestConsole();
  }, 30_000);
  afterAll(() => console[Symbol.asyncDispose]());

  test("someone signs in and is led to the address they came for", async () => {
    await console.open("/jobs");
    expect(new URL(console.page.url()).pathname).toBe("/console/sign-in");
    expect(await console.accessibilityFindings()).toEqual([]);
    await console.fill("Name", "admin");
    await console.fill("Password", "a-password-for-tests");
    await console.page.keyboard.press("Enter");
    await console.find("heading", "Jobs");
    expect(new URL(console.page.url()).pathname).toBe("/console/jobs");
  });
});
