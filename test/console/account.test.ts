import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { chromium, startTestConsole, type TestConsole } from "../support/browser.ts";

const OWN_PASSWORD = "a-password-of-my-own";

describe.skipIf(chromium === null)("a member's own account", () => {
  let shown: TestConsole;
  let secret: string;
  let recoveryCodes: string[];
  beforeAll(async () => {
    shown = await startTestConsole();
  }, 30_000);
  afterAll(() => shown[Symbol.asyncDispose]());

  test("a generated password is changed before anything else", async () => {
    const password = await createMember("Ada");
    await shown.open("/");
    await shown.fill("Name", "Ada");
    await shown.fill("Password", password);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Choose a password");
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.fill("New password", "short");
    await shown.page.keyboard.press("Enter");
    await shown.see("Must have at least 12 characters");
    await shown.fill("New password", OWN_PASSWORD);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Overview");
  });

  test("an authenticator is turned on by its code", async () => {
    await shown.open("/settings/account");
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.press("button", "Turn on");
    await shown.find("image", "QR code of the secret below");
    secret = String(await shown.page.$eval("[role=dialog] code", (code) => code.textContent)).replaceAll(
      " ",
      "",
    );
    await shown.fill("Code", codeOf(secret));
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Your recovery codes");
    const text = await shown.page.$eval("[data-secret]", (codes) => codes.textContent);
    recoveryCodes = String(text).split("\n");
    expect(recoveryCodes.length).toBeGreaterThan(4);
    expect(await shown.accessibilityFindings()).toEqual([]);
    await shown.press("button", "I have copied it");
    await shown.find("button", "Turn off");
  });

  test("a token is shown once, and administers as far as its role goes", async () => {
    await shown.press("button", "Create a token");
    await shown.fill("Name", "Nightly report");
    await shown.press("button", "Create");
    await shown.find("heading", "Your new token");
    const token = await shown.page.$eval("[data-secret]", (shown) => shown.textContent);
    await shown.press("button", "I have copied it");
    await shown.see("Nightly report");
    const headers = { authorization: `Bearer ${token}` };
    const url = `${shown.gateway.url}/admin/v1/keys`;
    expect((await fetch(url, { headers })).status).toBe(200);
    expect((await fetch(`${url}/none`, { method: "DELETE", headers })).status).toBe(403);
  });

  test("signing in needs a code from then on; a recovery code is accepted in its place", async () => {
    await shown.page.deleteCookie({ name: "gateway_session" });
    await shown.open("/");
    await shown.fill("Name", "Ada");
    await shown.fill("Password", OWN_PASSWORD);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Enter a code");
    await shown.fill("Code", "000000");
    await shown.page.keyboard.press("Enter");
    await shown.see("The code is wrong");
    await shown.press("button", "Use a recovery code");
    await shown.fill("Recovery code", recoveryCodes[0]!);
    await shown.page.keyboard.press("Enter");
    await shown.find("heading", "Overview");
  });

  test("no error was reported", () => {
    expect(shown.problems).toEqual([]);
  });

  /** Creates an owner over HTTP and returns the generated password. */
  async function createMember(name: string): Promise<string> {
    const { url } = shown.gateway;
    const send = (path: string, body: object, cookie = "") =>
      fetch(`${url}/admin/v1${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: url, cookie },
        body: JSON.stringify(body),
      });
    const session = await send("/session", { name: "admin", password: "a-password-for-tests" });
    const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
    const created = await send("/members", { name, role: "owner", organizations: "*" }, cookie);
    const { password } = (await created.json()) as { password: string };
    return password;
  }
});

function codeOf(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate();
}
