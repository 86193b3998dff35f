import Ajv from "ajv/dist/2020.js";
import { allRoutes, type ServerOptions } from "../../src/server/index.ts";
import { openApiDocument } from "../../src/server/openapi/document.ts";

type Content = Record<string, { schema?: object }>;

/** All routes that a gateway can have. */
export const ROUTES = allRoutes({
  core: {},
  blobs: {},
  server: {},
  admin: {},
  identity: {},
} as unknown as ServerOptions);

/** The document that a gateway with all of these routes serves. */
export const DOCUMENT = openApiDocument(ROUTES);

const ajv = new Ajv({ strict: false, validateFormats: false, inlineRefs: false });
ajv.addSchema({ $id: "document", components: DOCUMENT.components });

const PATTERNS = Object.keys(DOCUMENT.paths).map((path) => ({
  path,
  literal: path.replace(/\{\w+\}/, "").length,
  pattern: new RegExp(`^${path.replaceAll(/[.:]/g, "\\$&").replace(/\{\w+\}/, ".+")}$`),
}));

/** Throws when the OpenAPI document has this method and path, and the JSON response is not as described. */
export async function checkResponse(method: string, url: string, response: Response): Promise<void> {
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const item = itemOf(method, new URL(url).pathname);
  if (!item || type !== "application/json" || method === "HEAD") return;
  const described = (item.responses[response.status] ?? item.responses["default"]) as { content?: Content };
  const schema = described?.content?.[type]?.schema;
  if (!schema) throw new Error(`${method} ${url}: the document has no ${response.status} with JSON`);
  const check = ajv.compile(withReferences(schema));
  const body: unknown = await response.clone().json();
  if (check(body)) return;
  const problems = (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw new Error(`${method} ${url} ${response.status} is not as described: ${problems.join("; ")}`);
}

function itemOf(method: string, path: string) {
  const matches = PATTERNS.filter(({ pattern }) => pattern.test(path));
  const exact = matches.find((each) => each.path === path);
  const longest = matches.toSorted((one, other) => other.literal - one.literal)[0];
  return DOCUMENT.paths[(exact ?? longest)?.path ?? ""]?.[method.toLowerCase()];
}

/** Ajv compiles a schema only once if Ajv gets the same object each time. */
const compiled = new WeakMap<object, object>();

function withReferences(schema: object): object {
  const known = compiled.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
  const made: object = JSON.parse(text);
  compiled.set(schema, made);
  return made;
}
