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

/** The frame of a chunk for the caller. */
interface EditedFrame {
  frame: Buffer;
  /** True when the next chunk would be edited in another way. */
  isUnique: boolean;
}

/**
 * Edits a vendor's chunks for callers: the model has its public name, all chunks have one id and the fields that the
 * protocol requires, the first delta of a choice has a role, calls are numbered without gaps and tell their id and name
 * once, and usage is in no chunk with choices. Every other byte stays.
 */
export class ChunkEditor {
  readonly #model: string;
  /** The model's name as JSON text, one character for each byte. */
  readonly #modelText: string;
  /** Choices that have begun, by their index; null for one without calls so far. */
  readonly #choices = new Map<unknown, CallNumbers | null>();
  /** The id of the vendor's first chunk. */
  #id: string | null = null;
  /** Time at which the stream began, for chunks without one. */
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

  /** The stream's id, which is made where the vendor gave none. */
  idOrNew(): string {
    return (this.#id ??= newReplyId());
  }

  /** Returns the edit of a choice; null where nothing changes. */
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
      // Clients read it without a check.
      edits["delta"] = () => "{}";
    }
    if (Object.keys(edits).length === 0 && !usage) return null;
    return (text) => editMembers(usage ? removeMember(text, "usage") : text, edits);
  }

  /** Null where all are right. */
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
 * Edits a call for official clients. They need a small index (OpenAI's clients for Node and Python). Some join a
 * repeated id or name to the first one, or replace the first one by it, even by an empty one (OpenAI's client for
 * Python, LangChain). OpenAI's client for Node fails on a call that is null or begins without id or type.
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

/** Stands for an id made by the gateway: the vendor's own id of that call is then left out. */
const MADE_HERE = "made here";

function editItems(text: string, edits: readonly (Edit | null)[]): string {
  const spans = scanArray(text);
  const edited = spans.map((span, at) => {
    const item = text.slice(span.start, span.end);
    return { span, text: edits[at]?.(item) ?? item };
  });
  return splice(text, edited);
}

/** The data of an event that is written on one line, as vendors do. */
const DATA = /(?<=^|[\r\n])data:[^\r\n]*/g;

/** Edits the JSON of a frame. One character is one byte; the syntax of events and JSON is ASCII. */
function editData(frame: Buffer, edit: Edit): Buffer {
  const text = frame.toString("latin1");
  const lines = text.match(DATA) ?? [];
  if (lines.length === 1) return Buffer.from(text.replace(DATA, edit), "latin1");
  // Line ends in the data stand between JSON tokens only.
  const data = lines.map((line) => line.slice("data:".length)).join(" ");
  return Buffer.from(`data:${edit(data)}\n\n`, "latin1");
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}
