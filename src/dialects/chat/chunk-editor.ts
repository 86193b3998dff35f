import { UpstreamError } from "../../domain/upstream-error.ts";
import { editMembers, removeMember, type MemberEdit } from "../../lib/json-edit.ts";
import { isObject, scanArray, splice } from "../../lib/json.ts";
import { CallNumbers, readCall } from "./content.ts";
import {
  editsOfArguments,
  editsOfCall,
  editsOfChunk,
  editsOfChunkChoice,
  editsOfContent,
  secondsNow,
  newReplyId,
} from "./required-fields.ts";
import { neutralFrame } from "../sse/vendor-frames.ts";

/** The frame of a chunk, edited for the caller. */
interface EditedFrame {
  frame: Buffer;
  /** True when the edits of this chunk cannot be reused for the next chunk. */
  isUnique: boolean;
}

/**
 * Edits a vendor's chunks for callers. Sets the model's public name, one id for all chunks, and all fields that the
 * protocol requires. The first delta of a choice gets a role. Tool calls are numbered without gaps. The id and the name
 * of a tool call occur only once. No chunk contains both choices and usage. Names of the vendor are removed. Content in
 * parts becomes text and `reasoning_content`. All other bytes stay unchanged, unless the data of the event is on
 * several lines.
 */
export class ChunkEditor {
  readonly #model: string;
  /** The model's public name as JSON text. Each character represents one byte. */
  readonly #modelText: string;
  /** Choices that have begun, by index. A value is null until the choice has a tool call. */
  readonly #choices = new Map<unknown, CallNumbers | null>();
  /** The id of the stream: the vendor's first id, or an id of the gateway. Null before the first use. */
  #id: string | null = null;
  /** Time in Unix seconds at which the stream began, for chunks without a time. */
  readonly #created = secondsNow();

  constructor(model: string) {
    this.#model = model;
    this.#modelText = bytesOf(JSON.stringify(model));
  }

  edit(frame: Buffer, event: Record<string, unknown>): EditedFrame {
    const { id, model, choices, usage, x_groq: groq } = event;
    if (typeof id === "string") this.#id ??= id;
    const edits: Record<string, MemberEdit> = editsOfChunk(event, this.#created);
    if (model !== this.#model) edits["model"] = () => this.#modelText;
    if (id !== this.idOrNew()) edits["id"] = () => bytesOf(JSON.stringify(this.idOrNew()));
    const editsOfChoices = Array.isArray(choices) ? choices.map((choice) => this.#editsOf(choice)) : [];
    const isUnique = editsOfChoices.some((each) => each !== null);
    if (isUnique) edits["choices"] = (old) => old && editItems(old, editsOfChoices);
    const isBesideChoices = editsOfChoices.length > 0;
    if (isBesideChoices && isObject(groq) && groq["usage"])
      edits["x_groq"] = (old) => old && removeMember(old, "usage");
    const hasUsage = isBesideChoices && isObject(usage);
    const neutral = neutralFrame(frame, event);
    if (Object.keys(edits).length === 0 && !hasUsage) return { frame: neutral, isUnique };
    const edit = (data: string) => editMembers(hasUsage ? removeMember(data, "usage") : data, edits);
    return { frame: editData(neutral, edit), isUnique };
  }

  /** Returns the id of the stream. Makes an id if the vendor has not sent one. */
  idOrNew(): string {
    return (this.#id ??= newReplyId());
  }

  /** Returns the edit of a choice; null when the choice needs no edit. */
  #editsOf(choice: unknown): Edit | null {
    if (!isObject(choice)) return null;
    const { index = 0, delta, usage } = choice;
    const numbers = this.#choices.get(index);
    const isFirst = numbers === undefined && isObject(delta);
    if (numbers === undefined) this.#choices.set(index, null);
    const edits = editsOfChunkChoice(choice);
    if (isObject(delta)) {
      const calls = this.#editsOfCalls(index, delta["tool_calls"]);
      const inDelta = editsOfContent(delta);
      const { role } = delta;
      if (isFirst ? !role : role !== undefined && role !== "assistant") inDelta["role"] = () => '"assistant"';
      if (calls) inDelta["tool_calls"] = (old) => old && editItems(old, calls);
      if (Object.keys(inDelta).length > 0) edits["delta"] = (old) => old && editMembers(old, inDelta);
    } else {
      // Clients read `delta` without checking for it, so every choice needs a `delta`.
      edits["delta"] = () => "{}";
    }
    if (Object.keys(edits).length === 0 && !usage) return null;
    return (text) => editMembers(usage ? removeMember(text, "usage") : text, edits);
  }

  /** Returns the edit of each tool call in a delta; null when no call needs an edit. */
  #editsOfCalls(choice: unknown, calls: unknown): (Edit | null)[] | null {
    if (!Array.isArray(calls)) return null;
    const numbers = this.#choices.get(choice) ?? new CallNumbers();
    this.#choices.set(choice, numbers);
    const edits = calls.map((call: unknown) => editOfCall(call, numbers));
    return edits.some((edit) => edit !== null) ? edits : null;
  }
}

type Edit = (text: string) => string;

/**
 * Returns the edit of a tool call. OpenAI's clients for Node and Python need small indexes. OpenAI's client for Python
 * appends a later id or name to the first one. LangChain for Python appends a later name, and a later id that differs.
 * OpenAI's client for Node and LangChain for JavaScript replace the first value by a later value that is not empty.
 * OpenAI's client for Node fails on a null call and on a call that begins without id or type.
 */
function editOfCall(call: unknown, numbers: CallNumbers): Edit | null {
  if (!isObject(call)) throw new UpstreamError("broken", "a call is not an object");
  const part = readCall(call);
  if (!part) return null;
  const number = numbers.of(part, call["index"]);
  const edits: Record<string, MemberEdit> = {};
  if (number !== call["index"]) edits["index"] = () => String(number);
  const isFirst = numbers.isNews(number, "type", part.kind);
  Object.assign(edits, isFirst ? editsOfCall(call, part) : editsOfArguments(call));
  const isNewId = numbers.isNews(number, "id", part.id || (isFirst ? MADE_HERE : ""));
  const hasOldId = !isNewId && "id" in call;
  const hasOldName = !numbers.isNews(number, "name", part.name);
  const named = call[part.kind];
  if (hasOldName && isObject(named) && "name" in named) {
    const before = edits[part.kind];
    edits[part.kind] = (old) => old && removeMember(before?.(old) ?? old, "name");
  }
  if (!hasOldId && Object.keys(edits).length === 0) return null;
  return (text) => editMembers(hasOldId ? removeMember(text, "id") : text, edits);
}

/** Placeholder for an id that the gateway made. A later id of the vendor for this tool call is removed. */
const MADE_HERE = "made here";

function editItems(text: string, edits: readonly (Edit | null)[]): string {
  const spans = scanArray(text);
  const edited = spans.map((span, at) => {
    const item = text.slice(span.start, span.end);
    return { span, text: edits[at]?.(item) ?? item };
  });
  return splice(text, edited);
}

/** Matches the data of an event on a single line, as vendors write it. */
const DATA = /(?<=^|[\r\n])data:[^\r\n]*/g;

/** Edits the JSON in a frame, as one character per byte, because the syntax of events and JSON is ASCII. */
function editData(frame: Buffer, edit: Edit): Buffer {
  const text = frame.toString("latin1");
  const lines = text.match(DATA) ?? [];
  if (lines.length === 1) return Buffer.from(text.replace(DATA, edit), "latin1");
  // Spaces can replace the line breaks in the data, which occur only between JSON tokens.
  const data = lines.map((line) => line.slice("data:".length)).join(" ");
  return Buffer.from(`data:${edit(data)}\n\n`, "latin1");
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}
