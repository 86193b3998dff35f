import { existsSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

const REPOSITORY = resolve(import.meta.dirname, "..");
const DOCS = join(REPOSITORY, "docs");

/** Folder of the site for repository files that are not pages. */
const FOLDER = "files";

/** The fields of a Markdown node that this file uses. */
interface Node {
  type: string;
  url?: string;
  children?: Node[];
}

/**
 * Lets documents link to any file of the repository, as on a code host. A linked file that is not a page, such as the
 * example configuration, is copied to the site.
 */
export class RepositoryLinks {
  readonly #base: string;
  readonly #copied = new Set<string>();

  constructor(base: string) {
    this.#base = base;
  }

  /** True for a link to a file that is not a page of the site. Such a file is outside `docs`, or is not Markdown. */
  isFile(url: string): boolean {
    return !/\.md(?:#|$)/.test(url) || /^\.\.\/(?:\.\.\/)*[A-Z]/.test(url);
  }

  /** Changes a page's links to files, so that they lead to the copies. Throws when a linked file does not exist. */
  readonly remark =
    () =>
    (tree: Node, { path }: { path: string }) => {
      this.#visit(tree, path);
    };

  #visit(node: Node, page: string): void {
    if ((node.type === "link" || node.type === "definition") && node.url !== undefined)
      node.url = this.#addressOf(node.url, page);
    for (const child of node.children ?? []) this.#visit(child, page);
  }

  #addressOf(url: string, page: string): string {
    if (/^(?:[a-z]+:|[#/])/.test(url) || !this.isFile(url)) return url;
    const [path = "", anchor] = url.split("#");
    const file = resolve(dirname(page), path);
    const name = relative(REPOSITORY, file);
    if (name.startsWith("..") || !existsSync(file))
      throw new Error(`${relative(REPOSITORY, page)} links to ${url}, which is not there`);
    this.#copied.add(name);
    return `${this.#base}${FOLDER}/${name}${anchor === undefined ? "" : `#${anchor}`}`;
  }

  /** Copies the linked files into the built site. */
  async copy(site: string): Promise<void> {
    for (const name of this.#copied) {
      const target = join(site, FOLDER, name);
      await mkdir(dirname(target), { recursive: true });
      await copyFile(join(REPOSITORY, name), target);
    }
  }
}

export { DOCS };
