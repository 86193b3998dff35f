/** A turn of a kept conversation. */
interface KeptTurn {
  role: string;
  text: string;
}

type Fields = Record<string, unknown>;

/** Reads the turns of a text request of any protocol; null for what is none. */
export function turnsOf(prompt: string): KeptTurn[] | null {
  const body = fieldsOf(parsed(prompt));
  if (!body) return null;
  const system = textOf(
    body["system"] ?? body["instructions"] ?? fieldsOf(body["systemInstruction"])?.["parts"],
  );
  const listed = [body["messages"], body["contents"], body["input"]].find(Array.isArray);
  const texts = typeof body["input"] === "string" ? [{ role: "user", content: body["input"] }] : listed;
  if (!texts) return null;
  const turns = texts.flatMap((turn: unknown) => {
    const { role, content, parts, type } = fieldsOf(turn) ?? {};
    return {
      role: String(role ?? type ?? "user"),
      text: textOf(content ?? parts) || JSON.stringify(turn, null, 2),
    };
  });
  return system === "" ? turns : [{ role: "system", text: system }, ...turns];
}

/** Reads what a whole reply of any protocol says; null for what is none, as the text of a stream. */
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

/** A text, or the texts of its parts; other parts are named. */
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
    // Cut, or no JSON.
    return null;
  }
}
