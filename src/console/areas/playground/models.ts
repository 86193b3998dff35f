import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { readBody, type ListedModel, type ListedPrice, type ListedValues } from "../../api/public.ts";
import { callGateway } from "./gateway.ts";

/** A model that a key may call, as `GET /v1/models` describes it. */
export interface PlaygroundModel {
  id: string;
  displayName: string;
  isOfSandbox: boolean;
  type: ListedModel["type"];
  /** Options of an image model; null for other models. */
  image: ImageOptions | null;
  /** Maximum output tokens of a text model; null for other models. */
  maxOutputTokens: number | null;
}

/** The options of an image model. An empty list means that the model offers no such choice. */
export interface ImageOptions {
  tiers: readonly string[];
  ratios: readonly string[];
  /** Limits of exact sizes; null for a model with a fixed list of sizes. */
  pixels: { maxEdge: number; multipleOf: number } | null;
  qualities: readonly string[];
  backgrounds: readonly string[];
  formats: readonly string[];
  hasCompression: boolean;
  hasMask: boolean;
  maxCount: number;
  maxReferences: number;
}

const STALE_MS = 60_000;

/** Reads the models that a key may call. Reads nothing when there is no key. */
export function usePlaygroundModels(keyId: string | null) {
  return useQuery({
    queryKey: ["models.callable", keyId],
    enabled: keyId !== null,
    staleTime: STALE_MS,
    queryFn: async ({ signal }) => {
      const response = await callGateway(keyId ?? "", { method: "GET", path: "/v1/models" }, signal);
      const { data } = await readBody<{ data: ListedModel[] }>(response);
      return data.map(readModel);
    },
  });
}

/** Looks up a price. `query` is the query of `GET /v1/pricing/lookup`. */
export function usePlaygroundPrice(keyId: string | null, query: Record<string, string>) {
  const path = `/v1/pricing/lookup?${new URLSearchParams(query)}`;
  return useQuery({
    queryKey: ["prices.lookup", keyId, path],
    enabled: keyId !== null && (query["model"] ?? "") !== "",
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: async ({ signal }) =>
      await readBody<ListedPrice>(await callGateway(keyId ?? "", { method: "GET", path }, signal)),
  });
}

function readModel({ id, display_name, owned_by, type, parameters, limits }: ListedModel): PlaygroundModel {
  const { size, aspectRatio, quality, background, output_format, output_compression, mask } = parameters;
  const pixels = size?.pixels;
  const image = {
    tiers: size?.tiers ?? [],
    ratios: aspectRatio?.values ?? [],
    pixels: pixels ? { maxEdge: pixels.max_edge, multipleOf: pixels.multiple_of } : null,
    qualities: choices(quality),
    backgrounds: choices(background),
    formats: output_format?.values ?? [],
    hasCompression: output_compression !== undefined,
    hasMask: mask !== undefined,
    maxCount: limits.n_max ?? 1,
    maxReferences: limits.reference_images ?? 0,
  };
  return {
    id,
    displayName: display_name ?? id,
    isOfSandbox: owned_by === "sandbox",
    type,
    image: type === "image" ? image : null,
    maxOutputTokens: limits.max_output_tokens ?? null,
  };
}

/** Returns the values of a parameter; an empty list when `auto` is the only value, because then there is no choice. */
function choices(parameter: ListedValues | undefined): readonly string[] {
  const values = parameter?.values ?? [];
  return values.some((value) => value !== "auto") ? values : [];
}
