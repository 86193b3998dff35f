import { QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError, call, send, type Input, type OperationName, type Output } from "./api.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});

/** What an operation reads, for a component or a route's loader. */
export function reading<Name extends OperationName>(name: Name, input: Input<Name>) {
  return queryOptions({
    queryKey: [name, input],
    queryFn: ({ signal }): Promise<Output<Name>> => call(name, input, signal),
  });
}

export function useReading<Name extends OperationName>(name: Name, input: Input<Name>) {
  return useQuery(reading(name, input));
}

/** An act that changes something; afterwards everything of the named kinds (`keys`, `budgets`) is read again. */
export function useActing<Name extends OperationName>(name: Name, changes: readonly string[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<Name>) => call(name, input),
    onSuccess: () =>
      client.invalidateQueries({
        predicate: ({ queryKey }) => changes.some((kind) => String(queryKey[0]).startsWith(`${kind}.`)),
      }),
  });
}

export interface Session {
  id: string;
  name: string;
  role: "viewer" | "billing" | "admin" | "owner";
  organizations: "*" | string[];
}

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => send("GET", "/session", undefined, signal) as Promise<Session>,
  staleTime: 60_000,
  retry: false,
});
