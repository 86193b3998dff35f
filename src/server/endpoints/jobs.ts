import {
  isImageField,
  isKnownField,
  isPictureField,
  refuseJobVariants,
} from "../../dialects/images/index.ts";
import { retryAfterSeconds, writeJob } from "../../dialects/jobs/job.ts";
import { isPicturePath } from "../../dialects/native/index.ts";
import { rateHeaders } from "../../dialects/rate-headers.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { Job } from "../../domain/job.ts";
import { cancelAll, requestCancel, requireCancelled } from "../../jobs/cancel.ts";
import type { JobRequest } from "../../jobs/stored-request.ts";
import { type JobCore, submitJob } from "../../jobs/submit.ts";
import type { JsonPath, StreamedObject } from "../../lib/json-spool.ts";
import { readJsonBody } from "../entrance/body.ts";
import { fingerprintOf } from "../entrance/fingerprint.ts";
import { idempotencyKeyOf } from "../entrance/idempotency.ts";
import { type BodyDestination, isFormBody, readImageBody, readPictureJson } from "../entrance/image-body.ts";
import { respondFromSpool } from "../entrance/spooled-response.ts";
import { type AuthenticatedExchange, contextOf, queryOf, suspendIdleTimeout } from "../http-exchange.ts";
import { baseHeaders, ignoredHeader } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";
import { type ImageEndpoints, isCompressing } from "./images.ts";
import { readJobIds, readJobPage } from "./job-query.ts";

type JobEndpoints = ImageEndpoints & JobCore;

/** Maximum size of a cancellation's body. The ids of one call need less. */
const MAX_CANCEL_BYTES = 64 * 1024;

/** Returns the routes of asynchronous image jobs. */
export function jobRoutes(endpoints: JobEndpoints): HttpRoute[] {
  const common = { family: "images", auth: "key", scope: "ai:image" } as const;
  const post = { ...common, method: "POST" } as const;
  const get = { ...common, method: "GET" } as const;
  return [
    {
      ...post,
      path: "/api/jobs",
      name: "jobs.submit",
      pipeline: "image",
      keepsOutcomes: true,
      handle: (exchange: AuthenticatedExchange) => submit(endpoints, exchange),
    },
    {
      ...get,
      path: "/api/jobs",
      name: "jobs.list",
      handle: (exchange: AuthenticatedExchange) => list(endpoints, exchange),
    },
    {
      ...post,
      path: "/api/jobs/cancel",
      name: "jobs.cancel_all",
      handle: (exchange: AuthenticatedExchange) => cancelMany(endpoints, exchange),
    },
    {
      ...get,
      path: "/api/jobs/{id}",
      name: "jobs.get",
      handle: (exchange: AuthenticatedExchange) => readOrCancel(endpoints, exchange),
    },
    {
      ...post,
      path: "/api/jobs/{id}/cancel",
      name: "jobs.cancel",
      handle: (exchange: AuthenticatedExchange) => cancelOne(endpoints, exchange),
    },
  ];
}

function submit(endpoints: JobEndpoints, exchange: AuthenticatedExchange): Promise<Response> {
  const key = idempotencyKeyOf(exchange.request);
  return respondFromSpool(endpoints.spools, exchange, async (spool) => {
    const body = await readJobBody(exchange, { limits: endpoints.bodyLimits, spool });
    const { content, webhookUrl } = body;
    const request: JobRequest = { ...content, isCompressing: isCompressing(exchange.request) };
    const idempotency =
      key === null ? null : { key, fingerprint: await fingerprintOf([webhookUrl, contentOf(request)]) };
    suspendIdleTimeout(exchange);
    const submission = { request, webhookUrl, linkBase: endpoints.baseOf(exchange), idempotency };
    const { job, ignored } = await submitJob(endpoints, contextOf(exchange), submission);
    const headers = {
      ...baseHeaders(exchange.requestId),
      ...rateHeaders(exchange.grant.limitState, "chat"),
      ...ignoredHeader([...body.ignored, ...ignored]),
      "content-type": "application/json",
    };
    return { body: { ...writeJob(job, linker(endpoints, exchange)) }, headers };
  });
}

/** Returns the content of a submission, for comparing two submissions. */
function contentOf(request: JobRequest): unknown[] {
  return request.kind === "native"
    ? [request.isCompressing, request.model, request.body]
    : [request.isCompressing, request.fields];
}

async function readOrCancel(endpoints: JobEndpoints, exchange: AuthenticatedExchange): Promise<Response> {
  const { parameter: id, principal, request } = exchange;
  // Only a GET with exactly this value cancels the job. A HEAD does not, although it is otherwise handled like a GET.
  const isCancel = request.method === "GET" && queryOf(request.url).get("cancel") === "true";
  const job = isCancel
    ? await requestCancel(endpoints, principal.organization.id, id)
    : await endpoints.jobs.get(principal.organization.id, id);
  return respondWithJob(endpoints, exchange, job ?? unknownJob());
}

async function list(endpoints: JobEndpoints, exchange: AuthenticatedExchange): Promise<Response> {
  const { principal, requestId } = exchange;
  const page = readJobPage(queryOf(exchange.request.url));
  const found = await endpoints.jobs.list(principal.organization.id, { ...page, limit: page.limit + 1 });
  const linkOf = linker(endpoints, exchange);
  const body = {
    jobs: found.slice(0, page.limit).map((job) => writeJob(job, linkOf)),
    pagination: { offset: page.offset, limit: page.limit, has_more: found.length > page.limit },
  };
  return Response.json(body, { headers: baseHeaders(requestId) });
}

async function cancelOne(endpoints: JobEndpoints, exchange: AuthenticatedExchange): Promise<Response> {
  const { parameter: id, principal, requestId } = exchange;
  const job = (await requestCancel(endpoints, principal.organization.id, id)) ?? unknownJob();
  requireCancelled(job);
  return Response.json({ cancelled: true }, { headers: baseHeaders(requestId) });
}

async function cancelMany(endpoints: JobEndpoints, exchange: AuthenticatedExchange): Promise<Response> {
  const { principal, requestId } = exchange;
  const ids = readJobIds(await readJsonBody(exchange, endpoints.bodyLimits, MAX_CANCEL_BYTES));
  const results = await cancelAll(endpoints, principal.organization.id, ids);
  const body = { cancelled: results.every(({ cancelled }) => cancelled), results };
  return Response.json(body, { headers: baseHeaders(requestId) });
}

function respondWithJob(endpoints: JobEndpoints, exchange: AuthenticatedExchange, job: Job): Response {
  const headers = baseHeaders(exchange.requestId);
  const seconds = retryAfterSeconds(job);
  if (seconds !== null) headers["retry-after"] = String(seconds);
  return Response.json(writeJob(job, linker(endpoints, exchange)), { headers });
}

/** Returns a function that signs links for each response, so that their validity begins with the response. */
function linker(endpoints: JobEndpoints, exchange: AuthenticatedExchange): (name: string) => string {
  const base = endpoints.baseOf(exchange);
  const { linkHours } = exchange.principal.organization.settings;
  return (name) => endpoints.links.sign(base, name, linkHours);
}

function unknownJob(): never {
  throw new GatewayError("not_found", "There is no job with this id.");
}

type WithoutHeaders<Body> = Body extends unknown ? Omit<Body, "isCompressing"> : never;

interface JobBody {
  content: WithoutHeaders<JobRequest>;
  /** Address that receives a message when the job ends. */
  webhookUrl: string | null;
  /** Names of image fields in a body of the native protocol, which does not define these fields. */
  ignored: string[];
}

const WEBHOOK = "webhook_url";

/** Reads a submission's body: a form, JSON of the image endpoints, or JSON of the native protocol with its model. */
async function readJobBody(exchange: AuthenticatedExchange, destination: BodyDestination): Promise<JobBody> {
  if (isFormBody(exchange.request)) {
    const reads = (name: string): boolean => name === WEBHOOK || isKnownField(name);
    const all = await readImageBody(exchange, destination, true, reads);
    refuseJobVariants(Object.fromEntries(all));
    const fields = all.filter(([name]) => name !== WEBHOOK);
    const [, url] = all.find(([name]) => name === WEBHOOK) ?? [];
    return { content: { kind: "images", fields }, webhookUrl: readWebhook(url), ignored: [] };
  }
  const body = await readPictureJson(exchange, destination, isPicture);
  refuseJobVariants(body);
  const { [WEBHOOK]: url, ...rest } = body;
  const webhookUrl = readWebhook(url);
  if ((rest["contents"] ?? null) === null)
    return { content: { kind: "images", fields: Object.entries(rest) }, webhookUrl, ignored: [] };
  const { model, ...others } = rest;
  const { native, ignored } = withoutImageFields(others);
  if (typeof model !== "string" || model === "") {
    const message = "Set `model` beside `contents` to the id of an image model.";
    throw new GatewayError("model_required", message, { param: "model" });
  }
  return { content: { kind: "native", model, body: native }, webhookUrl, ignored };
}

/**
 * Removes image fields, because vendors of the native protocol refuse unknown fields. Throws for fields with pictures,
 * because the result depends on such fields.
 */
function withoutImageFields(body: StreamedObject): { native: StreamedObject; ignored: string[] } {
  const given = Object.entries(body).filter(([name, value]) => isKnownField(name) && value !== null);
  const picture = given.find(([name]) => isPictureField(name));
  if (picture) {
    const message = `\`${picture[0]}\` does not go with \`contents\`: send pictures in its parts, or \`prompt\` in its place.`;
    throw new GatewayError("invalid_parameter", message, { param: picture[0] });
  }
  const native = Object.fromEntries(Object.entries(body).filter(([name]) => !isImageField(name)));
  return { native, ignored: given.map(([name]) => name) };
}

function readWebhook(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  throw new GatewayError("invalid_parameter", "`webhook_url` must be a string.", { param: WEBHOOK });
}

function isPicture(path: JsonPath): boolean {
  return isPictureField(path[0]) || isPicturePath(path);
}
