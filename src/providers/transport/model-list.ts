import { isObject } from "../../lib/json.ts";
import { brokenResponse, parseResponse, readText, type Classify, type VendorRequest } from "./http.ts";
import { sendJson } from "./json-call.ts";

const MAX_LIST_BYTES = 8 * 1024 * 1024;
const MAX_MODELS = 2_000;
/** Matches a name of a model that people can read and choose. */
const NAME = /^[\x21-\x7e]{1,200}$/;

/**
 * Reads a vendor's list of models and returns their sorted names, 2,000 at most. `nameOf` reads the name of one model.
 * Throws an `UpstreamError`, or the signal's reason.
 */
export async function readModels(
  call: Omit<VendorRequest, "body">,
  classify: Classify,
  nameOf: (model: Record<string, unknown>) => unknown = ({ id }) => id,
): Promise<string[]> {
  const response = await sendJson("GET", call, classify);
  const value = parseResponse(await readText(response, MAX_LIST_BYTES, call.signal));
  // Most vendors put the list into an object; Together does not.
  const list = isObject(value) ? (value["data"] ?? value["models"]) : value;
  if (!Array.isArray(list)) throw brokenResponse("gave no list of models");
  const names = list.flatMap((model: unknown) => {
    const name = isObject(model) ? nameOf(model) : null;
    return typeof name === "string" && NAME.test(name) ? [name] : [];
  });
  const known = new Set(names);
  return [...known].toSorted().slice(0, MAX_MODELS);
}
