/** The code blocks of one section of docs/clients.md, for a gateway, a model and a home folder of their own. */
export interface Recipe {
  /** Settings as a shell reads them. */
  shell: string;
  /** The client as JavaScript or Python makes it. */
  code: string;
  /** Settings in files, by their path in the home folder. */
  files: Record<string, string>;
}

const PAGE = await Bun.file(new URL("../../docs/clients.md", import.meta.url)).text();

/** The sections that have blocks. */
export const RECIPE_NAMES: readonly string[] = sections().flatMap(([name, text]) =>
  text.includes("\n```") ? [name] : [],
);

/** Reads the blocks of a section. Throws for one that is not on the page. */
export function readRecipe(name: string, { url, model }: { url: string; model: string }): Recipe {
  const text = sections().find(([title]) => title === name)?.[1];
  if (text === undefined) throw new Error(`docs/clients.md has no section ${name}`);
  const recipe: Recipe = { shell: "", code: "", files: {} };
  for (const [, language, path, block = ""] of text.matchAll(/^```(\w+)(?: ~\/(\S+))?\n([^]*?)^```$/gm)) {
    const own = block.replaceAll("http://127.0.0.1:8080", url).replaceAll("sandbox-chat", model);
    if (path !== undefined) recipe.files[path] = own;
    else recipe[language === "sh" ? "shell" : "code"] += own;
  }
  return recipe;
}

function sections(): [string, string][] {
  return PAGE.split(/^## /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end), section.slice(end)];
    });
}
