import type { Cost, Operation } from "../../admin/operation.ts";
import { operations } from "../../admin/operations.ts";
import { ERROR_CODES } from "../../domain/error-codes.table.ts";
import { VERSION } from "../../lib/version.ts";
import type { HttpRoute } from "../routes.ts";
import { ERROR_SHAPES } from "./errors.ts";
import { AZURE, NOT_OFFERED, PUBLIC_ENDPOINTS, type EndpointDescription } from "./public-endpoints.ts";
import { jsonSchema, splitFields, type Schema } from "./schema.ts";
import { MEMBER_ENDPOINTS } from "./member-endpoints.ts";

export interface PathItem {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: object[];
  requestBody?: object;
  responses: Record<string, object>;
  security: object[];
}

export interface OpenApiDocument {
  openapi: string;
  info: object;
  tags: { name: string; "x-displayName": string; description?: string }[];
  /** Groups of tags. Pages such as `/docs/api` show the tags in these groups. */
  "x-tagGroups": { name: string; tags: string[] }[];
  paths: Record<string, Record<string, PathItem>>;
  components: object;
}

/** Returns the OpenAPI 3.1 document of all routes. */
export function openApiDocument(routes: readonly HttpRoute[]): OpenApiDocument {
  const paths: OpenApiDocument["paths"] = {};
  const names = new Set<string>();
  for (const route of routes)
    for (const { path, item } of itemsOf(route)) {
      const operationId = names.has(item.operationId)
        ? `${item.operationId}${path.replaceAll(/[^a-zA-Z0-9]+/g, "_")}_${route.method.toLowerCase()}`
        : item.operationId;
      names.add(operationId);
      (paths[path] ??= {})[route.method.toLowerCase()] = { ...item, operationId };
    }
  const groups = tagGroups(Object.values(paths).flatMap((item) => Object.values(item).flatMap(tagsOf)));
  return {
    openapi: "3.1.1",
    info: {
      title: "Model inference gateway",
      version: VERSION,
      license: { name: "Apache 2.0", identifier: "Apache-2.0" },
      description: INTRODUCTION,
    },
    tags: [
      ...groups.flatMap(({ tags }) => tags.map((name) => ({ name, "x-displayName": displayName(name) }))),
      { name: ERRORS, "x-displayName": ERRORS, description: errorSections() },
    ],
    "x-tagGroups": groups,
    paths,
    components: { securitySchemes: SECURITY_SCHEMES, schemas: errorSchemas() },
  };
}

function tagsOf({ tags }: PathItem): string[] {
  return tags;
}

/** Groups the tags by the kind of reader. Azure's addresses and refused operations have their own group. */
function tagGroups(tags: readonly string[]): OpenApiDocument["x-tagGroups"] {
  const last = [AZURE, NOT_OFFERED];
  const isAdmin = (name: string) => name.startsWith(ADMINISTRATION);
  const all = [...new Set(tags)];
  return [
    { name: "Interface", tags: all.filter((name) => !isAdmin(name) && !last.includes(name)) },
    { name: "Administration", tags: all.filter(isAdmin) },
    { name: "Other paths", tags: last.filter((name) => all.includes(name)) },
    { name: ERRORS, tags: [ERRORS] },
  ];
}

function displayName(tag: string): string {
  const name = tag.replace(ADMINISTRATION, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const ADMINISTRATION = "Administration: ";

const ERRORS = "Errors";

const INTRODUCTION = `One address, one key and one bill in front of every hosted model.

# First request

Send the name of a model, and a gateway key as a bearer token, to the address of your gateway:

\`\`\`sh
export GATEWAY_KEY=gk_...
curl http://127.0.0.1:8080/v1/chat/completions \\
  -H "Authorization: Bearer $GATEWAY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"Say hello."}]}'
\`\`\`

\`GET /v1/models\` lists the models that the key may call. Administration takes an admin token (\`ga_...\`), which a member makes
at \`/console/settings/account\`.
`;

/** Returns Markdown with a heading for each error, so that pages of the document list the errors by status and code. */
function errorSections(): string {
  const sections = Object.entries(ERROR_CODES).map(
    ([code, { status, when, remedy }]) => `### ${status} ${code}\n\n${when}. ${remedy}`,
  );
  return ["Decide by the code and the status; the words of a message may change.", ...sections].join("\n\n");
}

const SECURITY_SCHEMES = {
  gatewayKey: { type: "http", scheme: "bearer", description: "A gateway key: `gk_…`" },
  azureKey: { type: "apiKey", in: "header", name: "api-key" },
  messagesKey: { type: "apiKey", in: "header", name: "x-api-key" },
  nativeKey: { type: "apiKey", in: "header", name: "x-goog-api-key" },
  adminToken: { type: "http", scheme: "bearer", description: "An admin token: `ga_…`" },
  session: { type: "apiKey", in: "cookie", name: "gateway_session", description: "Of a sign-in" },
};

function errorSchemas(): Record<string, Schema> {
  const shapes = Object.values(ERROR_SHAPES);
  return Object.fromEntries(shapes.map(({ name, schema }) => [name, jsonSchema(schema, "output")]));
}

function itemsOf(route: HttpRoute): { path: string; item: PathItem }[] {
  const operation = (operations as Record<string, Operation>)[route.name.replace(/^admin\./, "")];
  if (operation && route.family === "admin")
    return [{ path: route.path, item: operationItem(route, operation) }];
  const described = PUBLIC_ENDPOINTS[route.name] ?? MEMBER_ENDPOINTS[route.name];
  if (!described) throw new Error(`the route ${route.name} is not described`);
  const calls = described.calls ?? { "{call}": {} };
  return Object.entries(calls).map(([call, special]) => {
    const path = route.path.replace("{call}", call);
    return { path, item: endpointItem({ ...route, path }, { ...described, ...special }) };
  });
}

const COSTS: Readonly<Record<Cost, string>> = {
  page: "",
  report: " A report: few run at a time.",
  verification: " A verification: one runs at a time.",
};

function operationItem({ name, method, path }: HttpRoute, operation: Operation): PathItem {
  const field = parameterOf(path);
  const { inPath, rest, required, object } = splitFields(jsonSchema(operation.input, "input"), field);
  const isQuery = method === "GET" || method === "DELETE";
  const hasBody = !isQuery && Object.keys(rest).length > 0;
  const parameters = [
    ...(field === null ? [] : [pathParameter(field, inPath)]),
    ...(isQuery ? queryParameters(rest, required) : []),
    ...(method === "POST" ? [IDEMPOTENCY_KEY] : []),
  ];
  const reach = operation.reach === "installation" ? ", and belongs to all organizations" : "";
  return {
    operationId: name.replace("admin.", ""),
    tags: [adminTag(name)],
    summary: operation.summary,
    description: `For members whose role is at least ${operation.role}${reach}.${COSTS[operation.cost]}`,
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody && {
      requestBody: { required: required.length > 0, content: { "application/json": { schema: object } } },
    }),
    responses: {
      "200": content("Done", { "application/json": jsonSchema(operation.output, "output") }),
      default: content("Refused", { "application/json": errorRef("admin") }),
    },
    security: [{ adminToken: [] }, { session: [] }],
  };
}

function endpointItem(route: HttpRoute, described: EndpointDescription): PathItem {
  const { tag, summary, description, query, body, form, example, responses, status = 200 } = described;
  const field = parameterOf(route.path);
  const parameters = [
    ...(field === null ? [] : [pathParameter(field, { type: "string" })]),
    ...(query ? queryOf(jsonSchema(query, "input")) : []),
  ];
  const isAlias = route.path.startsWith("/openai/");
  const contents = Object.entries(responses).map(([type, schema]) => [
    type,
    schema ? jsonSchema(schema, "output") : {},
  ]);
  return {
    operationId: route.name,
    tags: [isAlias ? AZURE : tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: body, ...(example && { example }) },
          ...(form && { "multipart/form-data": { schema: form } }),
        },
      },
    }),
    responses: {
      ...(status < 400 && { [status]: content("Done", Object.fromEntries(contents)) }),
      default: content("Refused", { "application/json": errorRef(route.family) }),
    },
    security: securityOf(route),
  };
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  schema: { type: "string", maxLength: 255 },
  description: "A repetition with the same key and body within 24 hours gets the first response",
};

function securityOf({ auth, path, family }: HttpRoute): object[] {
  if (auth === "public") return [];
  if (auth === "member") return [{ adminToken: [] }, { session: [] }];
  if (path.startsWith("/openai/")) return [{ gatewayKey: [] }, { azureKey: [] }];
  if (family === "messages") return [{ gatewayKey: [] }, { messagesKey: [] }];
  return family === "native" ? [{ gatewayKey: [] }, { nativeKey: [] }] : [{ gatewayKey: [] }];
}

function parameterOf(path: string): string | null {
  return /\{([a-zA-Z]+)\}/.exec(path)?.[1] ?? null;
}

function pathParameter(name: string, schema: unknown): object {
  return { name, in: "path", required: true, schema };
}

function queryOf({ properties = {}, required = [] }: Schema): object[] {
  return queryParameters(properties, required);
}

function queryParameters(properties: Record<string, unknown>, required: readonly string[]): object[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function content(description: string, schemas: Readonly<Record<string, unknown>>): object {
  const entries = Object.entries(schemas).map(([type, schema]) => [type, { schema }]);
  return { description, ...(entries.length > 0 && { content: Object.fromEntries(entries) }) };
}

function errorRef(family: HttpRoute["family"]): object {
  return { $ref: `#/components/schemas/${ERROR_SHAPES[family].name}` };
}

/**
 * Returns the tag of an operation of administration, from the second part of its name: `keys` in `admin.keys.create`.
 */
function adminTag(name: string): string {
  const area = name.split(".")[1] ?? "";
  return `${ADMINISTRATION}${area.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;
}
