import type { Page } from "puppeteer-core";
import * as en from "../../src/console/texts/en/index.ts";
import * as zh from "../../src/console/texts/zh/index.ts";

export type ShownLanguage = "en" | "zh";

type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>;
export const TEXTS: Readonly<Record<ShownLanguage, Texts>> = { en, zh };

/**
 * Finds faults in the shown page: content wider than the screen, text that is cut without an ellipsis, overlapping
 * texts, keys of missing texts, and English texts on a page in another language.
 */
export async function layoutFindings(page: Page, language: ShownLanguage): Promise<string[]> {
  const found = await page.evaluate(`(${FIND})(${JSON.stringify(foreignTexts(language))})`);
  return [...new Set(found as string[])];
}

/** Returns texts that must not be shown: the names of texts and, if the language is not English, the English texts. */
function foreignTexts(language: ShownLanguage): string[] {
  const names = Object.values(TEXTS.en).flatMap((area) =>
    Object.keys(area).filter((name) => name.includes(".")),
  );
  if (language === "en") return names;
  const known = new Set(Object.values(TEXTS[language]).flatMap((area) => Object.values(area)));
  const english = Object.values(TEXTS.en).flatMap((area) => Object.values(area));
  return [...names, ...english.filter((text) => !known.has(text) && !text.includes("{{"))];
}

/** Examines the newest dialog or menu, or the whole page if none is open. */
const FIND = `(foreign) => {
  const found = [];
  // A phone shows a page that is too wide in a smaller scale, with a larger innerWidth.
  const { scrollWidth, clientWidth } = document.documentElement;
  const over = scrollWidth - clientWidth;
  if (over > 0) found.push("the page is " + over + " pixels wider than the screen");
  const unwanted = new Set(foreign);
  const opened = document.querySelectorAll("section[role$=dialog], [role=menu], [role=listbox]");
  const layer = [...opened].at(-1) ?? document.body;
  const say = (text) => JSON.stringify(text.trim().slice(0, 60));
  const parts = [];
  const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data;
    const element = node.parentElement;
    if (text.trim() === "" || element.closest("svg, style, script, option, [data-live-announcer]")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    // Names of settings and fields are not translated, nor are the recorded values in the audit log.
    if (unwanted.has(text.trim()) && !element.closest("code, pre, del, ins, .font-mono"))
      found.push("not translated: " + say(text));
    const range = document.createRange();
    range.selectNodeContents(node);
    const whole = range.getBoundingClientRect();
    const clip = { left: 0, top: -1e6, right: innerWidth, bottom: 1e6 };
    let isCut = false, isScrolled = false, isEllipsis = false, isHidden = false, floats = false;
    for (let around = element; around && around !== document.documentElement; around = around.parentElement) {
      const style = getComputedStyle(around);
      if (around !== layer && /fixed|sticky/.test(style.position)) floats = true;
      if (style.clipPath === "inset(50%)") isHidden = true;
      if (style.display === "inline") continue;
      const box = around.getBoundingClientRect();
      if (style.overflow === "visible") continue;
      if (box.width <= 1 || box.height <= 1 || box.bottom <= 0) isHidden = true;
      isEllipsis ||= style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
      isScrolled ||= /auto|scroll/.test(style.overflow);
      const isOut = whole.right > box.right + 1 || whole.left < box.left - 1 || whole.bottom > box.bottom + 3;
      if (isOut && !isEllipsis && !isScrolled) isCut = true;
      clip.left = Math.max(clip.left, box.left);
      clip.top = Math.max(clip.top, box.top);
      clip.right = Math.min(clip.right, box.right);
      clip.bottom = Math.min(clip.bottom, box.bottom);
    }
    if (isHidden) continue;
    if (isCut) found.push("cut: " + say(text));
    const isBeside = whole.right > innerWidth + 1 || whole.left < -1;
    if (isBeside && !isScrolled && !isEllipsis && !isCut && !floats) found.push("beside the screen: " + say(text));
    if (floats) continue;
    for (const rect of range.getClientRects()) {
      const [left, top] = [Math.max(rect.left, clip.left), Math.max(rect.top, clip.top)];
      const [right, bottom] = [Math.min(rect.right, clip.right), Math.min(rect.bottom, clip.bottom)];
      if (right - left > 2 && bottom - top > 2) parts.push({ element, text, left, top, right, bottom });
    }
  }
  for (const element of layer.querySelectorAll("[aria-label], [title], [placeholder]"))
    for (const name of ["aria-label", "title", "placeholder"]) {
      const text = element.getAttribute(name) ?? "";
      if (unwanted.has(text.trim())) found.push("not translated: " + say(text) + " in " + name);
    }
  const canvas = document.createElement("canvas").getContext("2d");
  for (const field of layer.querySelectorAll("input[placeholder], textarea[placeholder]")) {
    if (field.value !== "" || field.clientWidth === 0) continue;
    const style = getComputedStyle(field);
    canvas.font = style.font;
    const space = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const needed = canvas.measureText(field.placeholder).width;
    if (field.matches("input") && needed > space + 1) found.push("cut: " + say(field.placeholder) + " in a field");
  }
  for (const [index, one] of parts.entries())
    for (const other of parts.slice(index + 1)) {
      if (one.element === other.element) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 3 && down > 5) found.push(say(one.text) + " lies over " + say(other.text));
    }
  return found;
}`;
