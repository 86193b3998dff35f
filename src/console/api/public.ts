// Responses of the public interface. The types have only the members that the console uses.

/** A model that a key may call, as `GET /v1/models` returns it. */
export interface ListedModel {
  id: string;
  display_name?: string;
  owned_by: string;
  type: "image" | "chat" | "messages" | "embedding";
  parameters: {
    size?: { tiers: string[]; pixels?: { max_edge: number; multiple_of: number } };
    aspectRatio?: ListedValues;
    quality?: ListedValues;
    background?: ListedValues;
    output_format?: ListedValues;
    output_compression?: object;
    mask?: object;
  };
  limits: { reference_images?: number; n_max?: number; max_output_tokens?: number };
}

export interface ListedValues {
  values?: string[];
}

/** A price in effect, as `GET /v1/pricing/lookup` returns it. `total` is the price of all pictures in the query. */
export type ListedPrice = { model: string; currency: string } & (
  | {
      unit: "image";
      tier: string;
      quality: string;
      unit_price: string;
      total: string;
      settles_by?: string;
    }
  | { unit: "token"; prices: Record<string, string> }
);

/** Reads the JSON body of a reply. The body is not checked, because it comes from the page's own gateway. */
export async function readBody<Body>(response: Response): Promise<Body> {
  return await response.json();
}
