import { FILTER_REPORTS } from "./azure/filter-reports.ts";
import { findRefusal, refuse, REFUSALS, type Refusal } from "./azure/refusals.ts";
import { bodyModel, findImageFault, readTarget, type Target } from "./azure/rules.ts";
import type { ReceivedRequest } from "./http-server.ts";
import { applyEarlyFault, sendJson } from "./transport.ts";
import { handleChat } from "./openai/chat.ts";
import { handleResponses } from "./openai/responses.ts";
import { handleImages } from "./openai/images.ts";
import { startSimulator, type Simulator, type Vendor } from "./simulator.ts";

export const SIMULATED_KEY = "0123456789abcdef0123456789abcdef";

/** Deployments of the simulated resource. */
export const CHAT_DEPLOYMENT = "gpt-5.4";
export const IMAGE_DEPLOYMENT = "gpt-image-2";

/**
 * A simulated resource of Azure OpenAI with both surfaces. It refuses what only Azure refuses. Otherwise it has the
 * rules of the simulated OpenAI. The base address for a channel is `{url}`. A call needs the key, or a token for which
 * `accepts` returns true.
 */
export function startAzure(accepts: (token: string) => boolean = () => false): Promise<Simulator> {
  return startSimulator((...call) => handleRequest(accepts, ...call));
}

async function handleRequest(
  accepts: (token: string) => boolean,
  ...[request, response, exchange]: Parameters<Vendor>
): Promise<void> {
  const behaviour = exchange.takeBehaviour(undefined);
  if (await applyEarlyFault(behaviour, response)) return;
  const planned = findRefusal(
    behaviour,
    request.headers["api-key"] ?? request.headers["authorization"] ?? "",
  );
  if (planned) return refuse(response, planned, behaviour);
  const target = findTarget(request, accepts);
  if (target === "list") return sendJson(response, 200, { object: "list", data: [] });
  if ("status" in target) return refuse(response, target);
  if (target.operation === "chat/completions")
    return handleChat(request, response, exchange, [CHAT_DEPLOYMENT], FILTER_REPORTS);
  if (target.operation === "responses")
    return handleResponses(request, response, exchange, { models: [CHAT_DEPLOYMENT], account: "azure" });
  const fault = findImageFault(request);
  if (fault) return refuse(response, fault);
  return handleImages(request, response, exchange, [IMAGE_DEPLOYMENT]);
}

/** Checks credential, operation and deployment, in the vendor's order. */
function findTarget(
  request: ReceivedRequest,
  accepts: (token: string) => boolean,
): Target | Refusal | "list" {
  const { "api-key": key, authorization } = request.headers;
  const isAccepted =
    authorization === undefined
      ? key === SIMULATED_KEY
      : key === undefined && accepts(authorization.replace(/^Bearer /, ""));
  if (!isAccepted) return REFUSALS["401"]!;
  if (request.method === "GET" && LISTS.test(request.path) && request.query.has("api-version")) return "list";
  const target = request.method === "POST" ? readTarget(request) : REFUSALS["404"]!;
  if ("status" in target) return target;
  const deployment = target.deployment ?? bodyModel(request);
  if (deployment !== CHAT_DEPLOYMENT && deployment !== IMAGE_DEPLOYMENT)
    return REFUSALS["DeploymentNotFound"]!;
  const isChat = target.operation === "chat/completions" || target.operation === "responses";
  return isChat === (deployment === CHAT_DEPLOYMENT) ? target : REFUSALS["OperationNotSupported"]!;
}

/** Paths of the lists of models (Azure OpenAI, "Models - List"). */
const LISTS = /^\/openai\/(v1\/)?models$/;
