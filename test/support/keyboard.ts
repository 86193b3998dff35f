import type { Page } from "puppeteer-core";

const TIMEOUT_MS = 20_000;

/** Presses Tab, or Shift with Tab, until the element of an accessible name has the focus, which may be yet to come. */
export async function tabTo(page: Page, name: string, { isBack = false } = {}): Promise<void> {
  const end = performance.now() + TIMEOUT_MS;
  while (performance.now() < end) {
    if (isBack) await page.keyboard.down("Shift");
    await page.keyboard.press("Tab");
    if (isBack) await page.keyboard.up("Shift");
    if (await hasFocus(page, name)) return;
  }
  throw new Error(`no Tab leads to "${name}"`);
}

/** Presses several keys at once, such as `Control` and `Enter`. */
export async function chord(
  page: Page,
  held: "Control" | "Shift",
  key: "Enter" | "ArrowRight",
): Promise<void> {
  await page.keyboard.down(held);
  await page.keyboard.press(key);
  await page.keyboard.up(held);
}

/** By label, own label or text, as far as these tests name elements. */
async function hasFocus(page: Page, name: string): Promise<boolean> {
  return (await page.evaluate(`(() => {
    const element = document.activeElement;
    const labels = (element.getAttribute("aria-labelledby") ?? "").split(" ")
      .map((id) => document.getElementById(id)?.innerText ?? "");
    const own = [element.ariaLabel, element.innerText, ...Array.from(element.labels ?? [], (label) => label.innerText)];
    return [...own, ...labels].some((text) => (text ?? "").trim() === ${JSON.stringify(name)});
  })()`)) as boolean;
}
