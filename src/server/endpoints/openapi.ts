import type { HttpExchange } from "../http-exchange.ts";
import { baseHeaders } from "../respond.ts";
import type { HttpRoute } from "../routes.ts";

/** The route of the description of all routes, which the page `/docs/api` shows. */
export function documentRoute(routes: readonly HttpRoute[]): HttpRoute {
  let text: string | null = null;
  // The schemas are loaded at the first use: nothing else needs them.
  const read = async (): Promise<string> => {
    const { openApiDocument } = await import("../openapi/document.ts");
    return (text ??= JSON.stringify(openApiDocument([...routes, own])));
  };
  const own: HttpRoute = {
    method: "GET",
    path: "/openapi.json",
    name: "openapi",
    family: "images",
    auth: "public",
    because: "its content is public",
    handle: async ({ requestId }: HttpExchange) =>
      new Response(await read(), {
        headers: {
          ...baseHeaders(requestId),
          "content-type": "application/json",
          // It may change with each version of the program, so browsers must revalidate it.
          "cache-control": "no-cache",
        },
      }),
  };
  return own;
}
