/** Headers in which vendors return their id of a call: OpenAI and most others, Anthropic, Azure, AWS, Volcengine. */
const REQUEST_ID_HEADERS = [
  "x-request-id",
  "request-id",
  "apim-request-id",
  "x-amzn-requestid",
  "x-tt-logid",
];

/** Returns the vendor's own id of a call, for inquiries to its support. */
export function requestIdOf({ headers }: { headers: Pick<Headers, "get"> }): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const id = headers.get(name);
    if (id !== null) return /^[\w.:/+=-]{1,128}$/.test(id) ? id : undefined;
  }
  return undefined;
}
