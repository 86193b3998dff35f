import { editMembers, type MemberEdit } from "../../lib/json-edit.ts";
import { frameData } from "../../lib/sse.ts";

/** An event of the protocol. */
interface MessagesEvent {
  type: string;
  [member: string]: unknown;
}

/** An event as a frame: clients read its name, and ignore a frame without one. */
export function eventFrame(event: MessagesEvent): Buffer {
  return Buffer.from(eventText(event));
}

/** The same as text. */
export function eventText(event: MessagesEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Fills the silence of a stream: every client skips it. */
export const PING_FRAME: Uint8Array = eventFrame({ type: "ping" });

/** Adds the name of its event to a frame where only the data has it. */
export function namedFrame(frame: Buffer, type: unknown): Buffer {
  if (frame.subarray(0, 6).equals(NAME) || typeof type !== "string" || !/^\w+$/.test(type)) return frame;
  const hasName = /(?<=[\r\n])event:/.test(frame.toString("latin1"));
  return hasName ? frame : Buffer.concat([Buffer.from(`event: ${type}\n`), frame]);
}

const NAME = Buffer.from("event:");
/** The data of an event that is written on one line, as vendors do. */
const DATA = /(?<=^|[\r\n])data:[^\r\n]*/g;

/** Edits one member of a frame's event; every other byte stays. */
export function editEvent(frame: Buffer, name: string, edit: MemberEdit): Buffer {
  const asBytes: MemberEdit = (old) => {
    const edited = edit(old === undefined ? undefined : Buffer.from(old, "latin1").toString());
    return edited === undefined ? undefined : Buffer.from(edited).toString("latin1");
  };
  // One character is one byte; the syntax of events and JSON is ASCII.
  const text = frame.toString("latin1");
  const lines = text.match(DATA) ?? [];
  if (lines.length === 1)
    return Buffer.from(
      text.replace(DATA, (line) => editMembers(line, { [name]: asBytes })),
      "latin1",
    );
  const [before = ""] = text.split(DATA, 1);
  // Line ends in the data stand between JSON tokens only.
  const data = Buffer.from((frameData(frame) ?? "").replaceAll("\n", " ")).toString("latin1");
  return Buffer.from(`${before}data: ${editMembers(data, { [name]: asBytes })}\n\n`, "latin1");
}
