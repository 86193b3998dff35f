import { isObject, textOf } from "../../lib/json.ts";
import { brokenResponse, parseResponse, readText, type Classify, type VendorRequest } from "./http.ts";
import { sendJson } from "./json-call.ts";

const MAX_LIST_BYTES = 8 * 1024 * 1024;
const MAX_PAGES = 20;
const MAX_MODELS = 2_000;
/** Matches a name of a model that people can read and choose. */
const NAME = /^[\x21-\x7e]{1,200}$/;

/** The form of a vendor's list. By default the list is the response, or its `data` or `models`; names are ids. */
interface ListForm {
  /** The member of the response that contains the list. */
  member?: string;
  /** Returns the name of one model. A model without a text as its name is left out. */
  nameOf?(model: Record<string, unknown>): unknown;
  /** The member with the position of the next page, and the query parameter for that position. */
  next?: { member: string; parameter: string };
}

/** Returns the sorted names of a vendor's list, 2,000 at most. Throws an `UpstreamError`, or the signal's reason. */
export async function readModels(
  call: Omit<VendorRequest, "body">,
  classify: Classify,
  { member, nameOf = ({ id }) => id, next }: ListForm = {},
): Promise<string[]> {
  const names: string[] = [];
  let { url } = call;
  for (let page = 0; page < MAX_PAGES && names.length < MAX_MODELS; page += 1) {
    const response = await sendJson("GET", { ...call, url }, classify);
    const value = parseResponse(await readText(response, MAX_LIST_BYTES, call.signal));
    const list = listOf(value, member);
    if (!Array.isArray(list)) throw brokenResponse("gave no list of models");
    const found = list.flatMap((model: unknown) => {
      const name = isObject(model) ? nameOf(model) : null;
      return typeof name === "string" && NAME.test(name) ? [name] : [];
    });
    names.push(...found);
    const position = next && isObject(value) ? textOf(value[next.member]) : "";
    if (!next || position === "") break;
    url = `${call.url}&${next.parameter}=${encodeURIComponent(position)}`;
  }
  return joinModels([names]);
}

/** Joins lists of names to one sorted list without repetitions, 2,000 names at most. */
export function joinModels(lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].toSorted().slice(0, MAX_MODELS);
}

/** Returns the list in a response. Most vendors put the list into an object, but Together does not. */
function listOf(value: unknown, member: string | undefined): unknown {
  if (!isObject(value)) return value;
  return member === undefined ? (value["data"] ?? value["models"]) : value[member];
}
