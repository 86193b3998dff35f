import { expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv from "ajv/dist/2020.js";
import { ERROR_CODES } from "../../src/domain/error-codes.table.ts";
import { PUBLIC_ENDPOINTS } from "../../src/server/openapi/public-endpoints.ts";
import { startTestGateway } from "../support/gateway.ts";
import { checkResponse, DOCUMENT, ROUTES } from "../support/openapi.ts";

/** Returns the paths under which the OpenAPI document contains a route. */
function documentPaths({ name, path }: { name: string; path: string }): string[] {
  const calls = PUBLIC_ENDPOINTS[name]?.calls;
  return calls ? Object.keys(calls).map((call) => path.replace("{call}", call)) : [path];
}

test("the document is valid OpenAPI 3.1 and names every route", async () => {
  const result = await new Validator().validate(structuredClone(DOCUMENT) as never);
  expect(result).toMatchObject({ valid: true });
  const missing = ROUTES.filter(
    (route) => !documentPaths(route).every((path) => DOCUMENT.paths[path]?.[route.method.toLowerCase()]),
  );
  expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  const ids = Object.values(DOCUMENT.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  expect(ids).toHaveLength(new Set(ids).size);
});

test("every example of the document is a request that its own schema accepts", () => {
  const described = Object.values(PUBLIC_ENDPOINTS).filter(({ body, example }) => body && example);
  expect(described.length).toBeGreaterThan(8);
  const ajv = new Ajv({ strict: false });
  for (const { body, example } of described) {
    const accepts = ajv.compile(body!);
    accepts(example);
    expect(accepts.errors).toBeNull();
  }
});

test("a form has the fields of its JSON", () => {
  const fieldsOf = (schema?: object): string[] => Object.keys(Object(schema).properties).toSorted();
  const described = Object.values(PUBLIC_ENDPOINTS).filter(({ form }) => form);
  expect(described.length).toBeGreaterThan(1);
  for (const { body, form } of described) expect(fieldsOf(form)).toEqual(fieldsOf(body));
});

test("its first example is answered, and each error says when it comes and what helps", async () => {
  const { description = "" } = DOCUMENT.info as { description?: string };
  const [, command = ""] = /```sh\n([^]+?)```/.exec(description) ?? [];
  await using gateway = await startTestGateway();
  const own = command.replace("gk_...", gateway.key).replace("http://127.0.0.1:8080", gateway.url);
  const { exitCode, stdout } = Bun.spawnSync(["bash", "-ec", own.replace("curl", "curl --fail")]);
  expect([exitCode, stdout.toString()]).toEqual([0, expect.stringContaining("chat.completion")]);
  const errors = DOCUMENT.tags.at(-1)?.description?.split("\n\n### ").slice(1) ?? [];
  expect(errors).toHaveLength(Object.keys(ERROR_CODES).length);
  for (const error of errors) expect(error).toMatch(/^\d{3} \w+\n\n[A-Z`].+\. [A-Z`].+\.$/s);
});

test("the document is served with every route", async () => {
  await using gateway = await startTestGateway();
  const served = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as typeof DOCUMENT;
  expect(served).toMatchObject({ openapi: "3.1.1" });
  const own = Object.keys(DOCUMENT.paths).filter((path) => !path.startsWith("/console/oidc/"));
  expect(Object.keys(served.paths).toSorted()).toEqual(own.toSorted());
});

test("responses of the public interface are as the document says", async () => {
  await using gateway = await startTestGateway();
  const picture = { model: "sandbox-a", prompt: "a lighthouse" };
  const requests: [path: string, body?: object][] = [
    ["/v1/models"],
    ["/v1/models/sandbox-a"],
    ["/v1/models/nothing"],
    ["/v1beta/models"],
    ["/v1/pricing/lookup"],
    ["/v1/pricing/lookup?model=sandbox-a&n=2"],
    ["/v1/images/generations", picture],
    ["/v1/images/generations", { ...picture, size: 3 }],
    ["/v1/chat/completions", { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] }],
    ["/v1/messages", { model: "sandbox-chat", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }],
    ["/v1/messages/count_tokens", { model: "sandbox-chat", messages: [{ role: "user", content: "hi" }] }],
    ["/v1/responses", { model: "sandbox-chat", input: "hi" }],
    ["/v1beta/models/sandbox-chat:generateContent", { contents: [{ parts: [{ text: "hi" }] }] }],
    ["/api/jobs", picture],
    ["/api/jobs"],
    ["/api/jobs/cancel", { job_ids: ["job_none"] }],
    ["/api/jobs/job_none"],
    ["/v1/usage"],
    ["/v1/usage?days=0"],
    ["/healthz"],
    ["/readyz"],
  ];
  for (const [path, body] of requests) {
    const response = await gateway.call(path, body && { body });
    await checkResponse(body ? "POST" : "GET", `${gateway.url}${path}`, response);
  }
});

test("a response that is not as the document says is noticed", async () => {
  const wrong = Response.json({ object: "list", data: [{ id: 1 }] });
  await expect(checkResponse("GET", "http://gateway/v1/models", wrong)).rejects.toThrow("not as described");
});
