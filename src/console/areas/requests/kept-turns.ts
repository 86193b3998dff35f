import { EMPTY_TEXT_FORM } from "../playground/conversation.ts";
import type { OpenedPrompt } from "../playground/opened-prompt.ts";

interface KeptTurn {
  role: string;
  text: string;
}

type Fields = Record<string, unknown>;

/** Maps the field with the turns to the field with the instructions, for each protocol. */
const INSTRUCTIONS: Readonly<Record<string, string>> = {
  messages: "system",
  contents: "systemInstruction",
  input: "instructions",
};

/**
 * Reads the turns of a text request of any protocol. Returns null for any other text. Also returns null for a request
 * with the turns of several protocols: a caller may have added fields that no model reads.
 */
export function turnsOf(prompt: string): KeptTurn[] | null {
  const body = fieldsOf(parsed(prompt));
  if (!body) return null;
  const [field, ...others] = Object.keys(INSTRUCTIONS).filter((name) => Object.hasOwn(body, name));
  if (field === undefined || others.length > 0) return null;
  const instructions = body[INSTRUCTIONS[field] ?? ""];
  const system = textOf(fieldsOf(instructions)?.["parts"] ?? instructions);
  const content = body[field];
  const texts = typeof content === "string" ? [{ role: "user", content }] : content;
  if (!Array.isArray(texts)) return null;
  const turns = texts.map((turn: unknown) => {
    const { role, content: own, parts, type } = fieldsOf(turn) ?? {};
    return {
      role: [role, type].find((name) => typeof name === "string") ?? "user",
      text: textOf(own ?? parts) || JSON.stringify(turn, null, 2),
    };
  });
  return system === "" ? turns : [{ role: "system", text: system }, ...turns];
}

/**
 * Converts a stored prompt to the form in which the playground opens it: a conversation, or a prompt for pictures.
 * Returns null for a text that begins with `{` and is no conversation, such as a conversation that was cut.
 */
export function promptToTry(prompt: string): OpenedPrompt | null {
  const turns = turnsOf(prompt);
  if (turns === null)
    return prompt.startsWith("{") ? null : { ...EMPTY_TEXT_FORM, turns: [], message: prompt };
  const body = fieldsOf(parsed(prompt)) ?? {};
  const options = { ...fieldsOf(body["generationConfig"]), ...body };
  const maxTokens = ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"]
    .map((name) => options[name])
    .find((value) => typeof value === "number");
  const { temperature } = options;
  const conversation = turns.filter(({ role }) => !INSTRUCTING.has(role));
  const last = conversation.at(-1);
  const isQuestion = last !== undefined && !ANSWERING.has(last.role);
  return {
    system: turns
      .filter(({ role }) => INSTRUCTING.has(role))
      .map(({ text }) => text)
      .join("\n\n"),
    maxTokens: maxTokens ?? null,
    temperature: typeof temperature === "number" ? temperature : null,
    turns: (isQuestion ? conversation.slice(0, -1) : conversation).map(({ role, text }) => ({
      role: ANSWERING.has(role) ? "assistant" : "user",
      text,
    })),
    message: isQuestion ? last.text : "",
  };
}

const INSTRUCTING: ReadonlySet<string> = new Set(["system", "developer"]);
/** Roles and item types that mark a turn of the model in the protocols. */
export const ANSWERING: ReadonlySet<string> = new Set([
  "assistant",
  "model",
  "function_call",
  "custom_tool_call",
  "reasoning",
]);

/** Reads the text of a whole reply of any protocol. Returns null for a reply without text, and for a stream. */
export function replyText(reply: string): string | null {
  const body = fieldsOf(parsed(reply));
  if (!body) return null;
  const choices = Array.isArray(body["choices"]) ? body["choices"] : [];
  const candidates = Array.isArray(body["candidates"]) ? body["candidates"] : [];
  const texts = [
    textOf(body["content"]),
    ...choices.map((choice: unknown) => textOf(fieldsOf(fieldsOf(choice)?.["message"])?.["content"])),
    ...candidates.map((candidate: unknown) => textOf(fieldsOf(fieldsOf(candidate)?.["content"])?.["parts"])),
    ...(Array.isArray(body["output"])
      ? body["output"].map((item: unknown) => textOf(fieldsOf(item)?.["content"]))
      : []),
  ];
  return texts.filter((text) => text !== "").join("\n\n") || null;
}

/** Returns a text, or the joined texts of its parts. A part that is not text becomes its type in brackets. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => {
      const { text, type } = fieldsOf(part) ?? {};
      return typeof text === "string" ? text : `[${typeof type === "string" ? type : "…"}]`;
    })
    .join("\n");
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text was cut, or is not JSON.
    return null;
  }
}
