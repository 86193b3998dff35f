import {
  QueryClient,
  infiniteQueryOptions,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { ApiError, call, type Input, type OperationName, type Output } from "./call.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});

/** Returns the query of a reading operation, for a component or a route's loader. */
export function operationQuery<Name extends OperationName>(name: Name, input: Input<Name>) {
  return queryOptions({
    queryKey: [name, input],
    queryFn: ({ signal }): Promise<Output<Name>> => call(name, input, signal),
  });
}

export function useOperationQuery<Name extends OperationName>(name: Name, input: Input<Name>) {
  return useQuery(operationQuery(name, input));
}

/** The operations that return a page of a list. */
export type ListName = {
  [Name in OperationName]: Output<Name> extends { data: unknown[]; next: string | null } ? Name : never;
}[OperationName];
type Item<Name extends ListName> =
  Output<Name> extends { data: (infer Row)[]; next: string | null } ? Row : never;

/** Reads a list page by page, as the user scrolls. */
export function useList<Name extends ListName>(name: Name, input: Input<Name>): List<Item<Name>> {
  const query = useInfiniteQuery(
    infiniteQueryOptions({
      queryKey: [name, input, "pages"],
      queryFn: ({ pageParam, signal }) => readPage(name, input, pageParam, signal),
      initialPageParam: null as string | null,
      getNextPageParam: ({ next }) => next,
    }),
  );
  return {
    rows: query.data?.pages.flatMap(({ data }) => data),
    error: query.error,
    failedAt: query.errorUpdatedAt,
    hasMore: query.hasNextPage,
    isReadingMore: query.isFetchingNextPage,
    readMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  };
}

/** Maximum number of items that the gateway returns in one page of a list. */
export const MAX_PAGE = 1_000;

/** Returns the query of all items of a list, to show them in another order than the list has. */
export function wholeListQuery<Name extends ListName>(name: Name, input: Input<Name>) {
  return queryOptions({
    queryKey: [name, input, "whole"],
    queryFn: async ({ signal }): Promise<readonly Item<Name>[]> => {
      const pages: Item<Name>[][] = [];
      let cursor: string | null = null;
      do {
        const { data, next }: Listed<Name> = await readPage(name, input, cursor, signal);
        pages.push(data);
        cursor = next;
      } while (cursor !== null);
      return pages.flat();
    },
  });
}

interface Listed<Name extends ListName> {
  data: Item<Name>[];
  next: string | null;
}

function readPage<Name extends ListName>(
  name: Name,
  input: Input<Name>,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Listed<Name>> {
  const from = cursor === null ? input : { ...(input as object), cursor };
  return call(name, from as Input<Name>, signal) as Promise<Listed<Name>>;
}

/** The rows of a table and the state of their query; `rows` is undefined until the first page is read. */
export interface List<Row> {
  rows: readonly Row[] | undefined;
  error: Error | null;
  /** Unix milliseconds of the failure. */
  failedAt: number;
  hasMore: boolean;
  isReadingMore: boolean;
  readMore(): void;
  retry(): void;
}

/** Returns a mutation that runs an operation and then repeats all queries of the given kinds (such as `keys`). */
export function useOperationMutation<Name extends OperationName>(name: Name, changes: readonly string[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<Name>) => call(name, input),
    onSuccess: () =>
      client.invalidateQueries({
        predicate: ({ queryKey }) => changes.some((kind) => String(queryKey[0]).startsWith(`${kind}.`)),
      }),
  });
}

/** The signed-in member. */
export type Session = Output<"session.get">;

export const sessionQuery = {
  ...operationQuery("session.get", {}),
  staleTime: 60_000,
  retry: false,
} as const;
