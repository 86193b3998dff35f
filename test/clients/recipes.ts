import { PAGES, type Fence } from "../documents/pages.ts";

/** The blocks of one client in docs/connect, with an address and a model inserted. */
export interface Recipe {
  /** Commands for a shell. */
  shell: string;
  /** JavaScript or Python code that creates the client. */
  code: string;
  /** Settings in files, by path in the home folder. */
  files: Record<string, string>;
}

const BLOCKS = Map.groupBy(
  PAGES.flatMap(({ fences }) => fences).filter(({ mark }) => mark?.startsWith("client: ")),
  ({ mark }: Fence) => mark?.slice("client: ".length),
);

/** Names of all clients that have blocks. */
export const RECIPE_NAMES: readonly string[] = [...BLOCKS.keys()].map(String);

/** Joins the blocks of a client. Throws for a client without blocks. */
export function readRecipe(name: string, { url, model }: { url: string; model: string }): Recipe {
  const blocks = BLOCKS.get(name);
  if (blocks === undefined) throw new Error(`no page of docs/connect has a block of ${name}`);
  const recipe: Recipe = { shell: "", code: "", files: {} };
  for (const { language, file, code } of blocks) {
    const own = code.replaceAll("http://127.0.0.1:8080", url).replaceAll("sandbox-chat", model);
    if (file !== undefined) recipe.files[file] = own;
    else recipe[language === "sh" ? "shell" : "code"] += own;
  }
  return recipe;
}
