import { editMembers, type MemberEdit } from "../../lib/json-edit.ts";
import { frameData } from "../../lib/sse.ts";

interface MessagesEvent {
  type: string;
  [member: string]: unknown;
}

/** Returns an event as a frame with the event's name. Clients ignore a frame without a name. */
export function eventFrame(event: MessagesEvent): Buffer {
  return Buffer.from(eventText(event));
}

/** Returns an event as the text of a frame. */
export function eventText(event: MessagesEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** A frame for silent periods of a stream. Every client skips this frame. */
export const PING_FRAME: Uint8Array = eventFrame({ type: "ping" });

/** Adds the event's name to a frame in which only the data has the name. */
export function namedFrame(frame: Buffer, type: unknown): Buffer {
  if (frame.subarray(0, 6).equals(NAME) || typeof type !== "string" || !/^\w+$/.test(type)) return frame;
  const hasName = /(?<=[\r\n])event:/.test(frame.toString("latin1"));
  return hasName ? frame : Buffer.concat([Buffer.from(`event: ${type}\n`), frame]);
}

const NAME = Buffer.from("event:");
/** Matches the data of an event on a single line, as vendors write it. */
const DATA = /(?<=^|[\r\n])data:[^\r\n]*/g;

/** Edits one field of the event in a frame. Other bytes stay unchanged if the data is on one line. */
export function editEvent(frame: Buffer, name: string, edit: MemberEdit): Buffer {
  const asBytes: MemberEdit = (old) => {
    const edited = edit(old === undefined ? undefined : Buffer.from(old, "latin1").toString());
    return edited === undefined ? undefined : Buffer.from(edited).toString("latin1");
  };
  // Each character represents one byte. This is safe, because the syntax of events and JSON is ASCII.
  const text = frame.toString("latin1");
  const lines = text.match(DATA) ?? [];
  if (lines.length === 1)
    return Buffer.from(
      text.replace(DATA, (line) => editMembers(line, { [name]: asBytes })),
      "latin1",
    );
  const [before = ""] = text.split(DATA, 1);
  // Spaces can replace the line breaks in the data, which occur only between JSON tokens.
  const data = Buffer.from((frameData(frame) ?? "").replaceAll("\n", " ")).toString("latin1");
  return Buffer.from(`${before}data: ${editMembers(data, { [name]: asBytes })}\n\n`, "latin1");
}
