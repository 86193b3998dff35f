import { z } from "zod";

/** Schema of a number that may be absent, null or a string. */
export const number = z.coerce
  .number()
  .nullish()
  .transform((value) => value ?? undefined);

/** Schema of a text that may be absent or null. */
export const text = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);

/** The files of another gateway, in any order. The kind of a file is recognized by its content. */
export class SourceFiles {
  readonly #files: ReadonlyMap<string, unknown>;
  readonly #unread: Set<string>;

  /** `files` has the parsed contents by path. */
  constructor(files: ReadonlyMap<string, unknown>) {
    this.#files = files;
    this.#unread = new Set(files.keys());
  }

  /** Returns the contents of the files that the schema accepts. */
  read<Content>(schema: z.ZodType<Content>): Content[] {
    return [...this.#files].flatMap(([path, file]) => {
      const result = schema.safeParse(file);
      if (!result.success) return [];
      this.#unread.delete(path);
      return [result.data];
    });
  }

  /** Returns the paths of the files that no schema has accepted yet. */
  unread(): string[] {
    return [...this.#unread];
  }
}
