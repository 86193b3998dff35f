import { createRandom, type Random } from "../random.ts";
import { MAX_OUTPUT_TOKENS, type Conversation } from "./conversation.ts";
import { splitTokens, widthAt } from "./tokens.ts";

const DEFAULT_SENTENCES = 4;
const MAX_QUOTE = 120;
const MAX_RESULT = 1200;

/**
 * Returns a text of the requested length, in most cases with a quotation of the question. The same conversation results
 * in the same text. Each choice has its own `variant` and thus its own text.
 */
export function composeAnswer(conversation: Conversation, variant: number): string {
  const { question, toolResult, attachments } = conversation;
  const random = createRandom(question, toolResult ?? "", variant);
  const requested = readRequestedLength(question);
  if (requested?.unit === "characters")
    return composeCharacters(random, Math.min(requested.count, MAX_OUTPUT_TOKENS));
  const topic = topicOf(question, random);
  const sentences = openingOf(question, toolResult, attachments);
  if (requested === null) {
    while (sentences.length < DEFAULT_SENTENCES) sentences.push(composeSentence(random, topic));
    return sentences.join(" ");
  }
  return composeWords(random, topic, sentences, Math.min(requested.count, MAX_OUTPUT_TOKENS));
}

/** Returns reasoning about a question as `count` tokens. */
export function composeThinking(question: string, count: number): string[] {
  const random = createRandom(question, "thinking");
  const topic = topicOf(question, random);
  const tokens = splitTokens("Let me think about this.");
  while (tokens.length < count) tokens.push(...splitTokens(` ${composeSentence(random, topic)}`));
  return tokens.slice(0, count);
}

/** The length that the prompt requests for the answer. */
interface RequestedLength {
  /** Unit of the length: words separated by spaces, or Chinese characters. */
  unit: "words" | "characters";
  count: number;
}

/**
 * Every repetition in these expressions has a maximum. Callers write the prompts, and the search must take linear time.
 */
const WORDS = /(?<![\d.,])(\d{1,3}(?:,\d{3}){1,3}|\d{1,7})[\s-]{1,3}words?\b/i;
const CHARACTERS = /(?<!\d)(\d{1,7})\s{0,3}(?:[个個]\s{0,3})?[汉漢]?[字词詞]/;

/** Finds "50 words", "a 1,000-word essay", "50字" or "50个字". Returns null when the prompt requests no length. */
function readRequestedLength(prompt: string): RequestedLength | null {
  const words = WORDS.exec(prompt)?.[1];
  if (words !== undefined) return { unit: "words", count: Number(words.replaceAll(",", "")) };
  const characters = CHARACTERS.exec(prompt)?.[1];
  return characters === undefined ? null : { unit: "characters", count: Number(characters) };
}

/**
 * Returns a name from the question, or else one of its longest words, or else `this`. Sentences and sample arguments
 * contain this word.
 */
export function topicOf(question: string, random: Random): string {
  const words = question.slice(0, 2000).match(/\p{L}[\p{L}\p{N}]{3,23}/gu) ?? [];
  const names = words.slice(1).filter((word) => /^\p{Lu}\p{Ll}/u.test(word));
  const max = Math.max(0, ...words.map((word) => word.length));
  const candidates = names.length > 0 ? names : words.filter((word) => word.length === max);
  return candidates[random.below(Math.max(1, candidates.length))] ?? "this";
}

function openingOf(question: string, toolResult: string | null, attachments: number): string[] {
  const opening = [question === "" ? "You sent no words." : `You asked: "${shorten(question, MAX_QUOTE)}".`];
  if (attachments > 0)
    opening.push(`I was given ${attachments} attachment${attachments === 1 ? "" : "s"} with it.`);
  if (toolResult !== null) opening.push(`The tool answered: ${shorten(toolResult, MAX_RESULT)}`);
  return opening;
}

function shorten(text: string, max: number): string {
  const line = text
    .slice(0, max * 4)
    .toWellFormed()
    .replace(/\s+/g, " ")
    .trim();
  let end = 0;
  for (let count = 0; count < max && end < line.length; count += 1) end += widthAt(line, end);
  return end === line.length ? line : `${line.slice(0, end)}…`;
}

/** Returns exactly `count` words. Omits the quotation when it would be more than half of the text. */
function composeWords(random: Random, topic: string, opening: readonly string[], count: number): string {
  const words = opening.flatMap((sentence) => sentence.split(" "));
  if (words.length * 2 > count) words.length = 0;
  while (words.length < count) words.push(...composeSentence(random, topic).split(" "));
  const kept = words.slice(0, count).join(" ");
  return /[.!?]$/.test(kept) ? kept : `${kept.replace(/[,;:]$/, "")}.`;
}

function composeCharacters(random: Random, count: number): string {
  let text = "";
  for (let index = 0; index < count; index += 1)
    text += COMMON_CHARACTERS[random.below(COMMON_CHARACTERS.length)];
  return text;
}

function composeSentence(random: Random, topic: string): string {
  const sentence = random.pick(TEMPLATES);
  return sentence.replaceAll(/[TANV]\b/g, (slot) => {
    if (slot === "T") return topic;
    return random.pick(slot === "A" ? ADJECTIVES : slot === "N" ? NOUNS : VERBS);
  });
}

const TEMPLATES = [
  "Every A N begins with T and ends with a A N.",
  "Most people V T long before they V its N.",
  "To V T well, start with the N and leave the N for later.",
  "The N behind T is as A as it looks.",
  "It helps to V one A N at a time.",
  "What matters for T is a A N and a A N.",
  "Once the N is A, the rest of T follows.",
  "Some V the N first, others V T as a whole.",
  "That is why people give T a A N of its own.",
] as const;
const ADJECTIVES = [
  "simple",
  "careful",
  "quiet",
  "useful",
  "steady",
  "patient",
  "clear",
  "bright",
  "small",
] as const;
const NOUNS = [
  "pattern",
  "question",
  "detail",
  "story",
  "balance",
  "method",
  "signal",
  "picture",
  "step",
] as const;
const VERBS = ["notice", "describe", "measure", "trust", "compare", "explain", "follow", "imagine"] as const;
const COMMON_CHARACTERS = Array.from("天地山水日月风云花草树木人心手足春夏秋冬东西南北大小多少上下左右来去");
