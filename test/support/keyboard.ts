import type { Page } from "puppeteer-core";

const TIMEOUT_MS = 20_000;

/** Presses Tab (Shift+Tab for `isBack`) until the element with this name has the focus. Also waits for the element. */
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

/** Presses two keys together, such as `Control` and `Enter`. */
export async function chord(
  page: Page,
  held: "Control" | "Shift",
  key: "Enter" | "ArrowRight",
): Promise<void> {
  await page.keyboard.down(held);
  await page.keyboard.press(key);
  await page.keyboard.up(held);
}

/** Compares the name with the labels and the text of the focused element. */
async function hasFocus(page: Page, name: string): Promise<boolean> {
  return (await page.evaluate(`(() => {
    const element = document.activeElement;
    const labels = (element.getAttribute("aria-labelledby") ?? "").split(" ")
      .map((id) => document.getElementById(id)?.innerText ?? "");
    const own = [element.ariaLabel, element.innerText, ...Array.from(element.labels ?? [], (label) => label.innerText)];
    return [...own, ...labels].some((text) => (text ?? "").trim() === ${JSON.stringify(name)});
  })()`)) as boolean;
}
