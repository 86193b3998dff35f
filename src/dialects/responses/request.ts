import { editMembers } from "../../lib/json-edit.ts";
import { splice, type Span } from "../../lib/json.ts";
import type { TextPayload, TextRequest, VendorTerms } from "../dialect.ts";
import { readBody, requireModelName } from "../request-body.ts";
import { readFeatures } from "./features.ts";
import { checkFields, checkNames, refuseStored } from "./fields.ts";
import { readReferences } from "./references.ts";
import { withoutForeignReasoning } from "./strip-reasoning.ts";

export interface ResponsesRequest extends TextRequest {
  modelSpan: Span | undefined;
}

export type ResponsesPayload = TextPayload<ResponsesRequest>;

/**
 * Reads and checks a request's bytes. Throws a `GatewayError` whose `param` names the field to change. The gateway
 * keeps nothing between requests, so what refers to an earlier response is refused.
 */
export function readRequest(bytes: Uint8Array): ResponsesPayload {
  const { raw, body, spans } = readBody(bytes, ["model"]);
  const model = requireModelName(body);
  checkNames(body);
  refuseStored(body);
  checkFields(body);
  const { files, linkParam, size } = readReferences(body["input"], bytes.length, raw.length);
  const maxTokens = body["max_output_tokens"];
  return {
    dialect: "responses",
    raw,
    headers: {},
    parsed: {
      model,
      isStream: body["stream"] === true,
      maxTokens: typeof maxTokens === "number" ? maxTokens : null,
      choices: 1,
      ...size.tokens,
      features: [...readFeatures(body), ...files],
      linkParam,
      body,
      modelSpan: spans[0],
    },
  };
}

/**
 * The text for a vendor of the same dialect: its own model name, a maximum of output tokens for a caller who set none
 * and whose budget needs one, and no reasoning that a vendor of another protocol has signed. Everything else is as
 * the caller wrote it.
 */
export function forVendor({ raw, parsed }: ResponsesPayload, terms: VendorTerms): string {
  const { model, modelSpan } = parsed;
  const { upstreamModel, coveredTokens } = terms;
  const isRenamed = upstreamModel !== model && modelSpan !== undefined;
  const named = isRenamed ? splice(raw, [{ span: modelSpan, text: JSON.stringify(upstreamModel) }]) : raw;
  const text = withoutForeignReasoning(named);
  return coveredTokens === null
    ? text
    : editMembers(text, { max_output_tokens: () => String(coveredTokens) });
}
